package proxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

const (
	// startWithin is the time limit for a proxy in the background to answer.
	startWithin = 10 * time.Second
	// askEvery is the pause between two questions whether it does.
	askEvery = 20 * time.Millisecond
	// idleInBackground is how long a proxy in the background stays without a request. A client's hooks start it again.
	idleInBackground = 24 * time.Hour
)

// ensure starts a proxy in the background unless one answers already, and returns when it does. It prints nothing then,
// because what the hook of a client prints goes to the model.
func ensure(ctx context.Context, p command.Process, o Options, idle time.Duration) error {
	key, err := secret.LoadProof(p.Lookup)
	if err != nil {
		return err
	}
	state, err := files.StateDir(p.Lookup)
	if err != nil {
		return err
	}
	address, file := "http://127.0.0.1:"+strconv.Itoa(o.Port), filepath.Join(state, fmt.Sprintf("proxy-%d.log", o.Port))
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for started := false; ; {
		l, err := ask(ctx, address, key)
		var other Stranger
		switch {
		case err == nil:
			l.close()
			return nil
		case NotRunning(err) && !started:
			if err := startInBackground(p, o, idle, file); err != nil {
				return err
			}
			started = true
		case NotRunning(err):
			err = fmt.Errorf("the proxy does not answer at %s; %s says why", address, file)
		case !errors.As(err, &other) || !other.mute: // a proxy that ends just now takes connections, too
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(askEvery):
		}
	}
}

// startInBackground starts a proxy that outlives this process and has no terminal. Its log is the file, from the beginning.
func startInBackground(p command.Process, o Options, idle time.Duration, file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(self, "proxy", "--port", strconv.Itoa(o.Port), "--policy", string(o.Policy), "--"+idleFlag, idle.String())
	if o.Upstream != nil {
		cmd.Args = append(cmd.Args, "--upstream", o.Upstream.String())
	}
	if o.Store != "" {
		cmd.Args = append(cmd.Args, "--store", o.Store)
	}
	cmd.Env, cmd.Stderr, cmd.Dir = withoutSecrets(p.Env), log, filepath.Dir(file)
	background(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the proxy: %w", err)
	}
	return cmd.Process.Release()
}

// withoutSecrets returns an environment without the clients' keys, which a process that outlives them has no use for.
func withoutSecrets(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.ContainsFunc(agent.Clients, func(c *agent.Client) bool { return c.HasSecret(name) })
	})
}

// endIdle ends ctx when no request came for a time.
func (s *server) endIdle(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if limit > 0 {
		go func() {
			seen, since := s.health.requests.Load(), time.Now()
			tick := time.NewTicker(max(limit/100, time.Millisecond))
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case now := <-tick.C:
					if n := s.health.requests.Load(); n != seen || s.health.active.Load() > 0 {
						seen, since = n, now
					} else if now.Sub(since) > limit {
						cancel()
						return
					}
				}
			}
		}()
	}
	return ctx, cancel
}
