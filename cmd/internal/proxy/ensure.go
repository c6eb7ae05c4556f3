package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"github.com/mcp-pruner/mcp-pruner/tools/statedir"
)

const (
	// startWithin is the time limit for a proxy in the background to answer.
	startWithin = 10 * time.Second
	// askEvery is the pause between two questions whether it does.
	askEvery = 20 * time.Millisecond
	// idleInBackground is how long a proxy in the background stays without a request. A client's hooks start it again.
	idleInBackground = 24 * time.Hour
)

// Ask asks a proxy how it is.
func Ask(ctx context.Context, address string, access secret.Secret) (h Health, err error) {
	_, text, err := send(ctx, http.MethodGet, address, access)
	if err == nil && (json.Unmarshal(text, &h) != nil || h.Status == "") {
		err = errOther
	}
	return h, err
}

// Stop ends a proxy, after the answers in progress.
func Stop(ctx context.Context, address string, access secret.Secret) error {
	if _, err := Ask(ctx, address, access); err != nil {
		return err
	}
	status, _, err := send(ctx, http.MethodDelete, address, access)
	if err == nil && status != http.StatusAccepted {
		err = errors.New("it does not end by a request")
	}
	return err
}

// errOther says that what answers is no proxy of ours.
var errOther = errors.New("another program has the port")

// send sends a request about the proxy itself.
func send(ctx context.Context, method, address string, access secret.Secret) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, address+HealthPath, nil)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set(secret.Header, string(access))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: startWithin} // no proxy of the environment's
	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusForbidden {
		return 0, nil, errors.New("it refuses the secret of this user: another user's proxy, or another program, has the port")
	}
	text, err = io.ReadAll(io.LimitReader(res.Body, 64<<10))
	return res.StatusCode, text, err
}

// ensure starts a proxy in the background unless one answers already, and returns when it does. It prints nothing then,
// because what the hook of a client prints goes to the model.
func ensure(ctx context.Context, p command.Process, o Options) error {
	access, err := secret.Load(p.Lookup)
	if err != nil {
		return err
	}
	address := "http://127.0.0.1:" + strconv.Itoa(o.Port)
	if _, err := Ask(ctx, address, access); err == nil || !NotRunning(err) {
		return err
	}
	state, err := statedir.Find(p.Lookup)
	if err != nil {
		return err
	}
	file := filepath.Join(state, fmt.Sprintf("proxy-%d.log", o.Port))
	if err := startInBackground(p, o, file); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	for {
		_, err := Ask(ctx, address, access)
		switch {
		case err == nil:
			return nil
		case !NotRunning(err):
			return fmt.Errorf("%s: %w", address, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the proxy does not answer at %s; %s says why", address, file)
		case <-time.After(askEvery):
		}
	}
}

// startInBackground starts a proxy that outlives this process and has no terminal. Its log is the file, from the beginning.
func startInBackground(p command.Process, o Options, file string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(self, "proxy", "--port", strconv.Itoa(o.Port), "--policy", string(o.Policy), "--end-idle", idleInBackground.String())
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
