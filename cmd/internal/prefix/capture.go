package prefix

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// CaptureOptions select the request to capture.
type CaptureOptions struct {
	Client *agent.Client
	Folder string   // the project's
	Env    []string // the user's
	Keeper []string // how this program is run as a keeper

	NoServers bool // no MCP server starts

	over <-chan time.Time // nil: after Limit
}

const (
	// captureLimit is how long a client may take to send the request, its MCP servers included. After that, what is known is used.
	captureLimit = 2 * time.Minute // Kilo works for half a minute on a busy machine before it asks

	ends  = 3 * time.Second // how long the client may take to end after its answer
	grace = time.Second     // how long it may take to end after it was asked to
)

// captured is the request that a client sent.
type captured struct {
	Request  Request
	Prompt   string // the prompt that this program gave
	Complete bool   // it is the request for a model's turn
	Version  string // of the client, "" if its requests do not say it
}

// Capture starts the client once and returns the request with which its session began.
func Capture(ctx context.Context, o CaptureOptions) (captured, error) {
	s, err := listenStandIn(o.Client.Prefix.Turn)
	if err != nil {
		return captured{}, fmt.Errorf("there is no stand-in for the model's API: %w", err)
	}
	defer s.close()
	private, err := privateFolder(o.Env)
	if err != nil {
		return captured{}, err
	}
	defer os.RemoveAll(private)
	prompt := "mcp-pruner-" + rand.Text()
	cmd, replaced, err := o.command(s.url, private, prompt)
	if err != nil {
		return captured{}, err
	}
	history, err := watchHistory(o, prompt)
	if err != nil {
		return captured{}, err
	}
	said, started := &outputTail{}, time.Now()
	cmd.Stdout, cmd.Stderr = said, said
	kept, err := keeper.Start(slices.Concat(o.Keeper, []string{keeper.Grace(grace)}), cmd)
	if err != nil {
		return captured{}, fmt.Errorf("%s cannot be started: %w", o.Client.Title, err)
	}
	if err := errors.Join(o.await(ctx, kept, s), history.clean()); err != nil {
		return captured{}, err
	}
	request, version, right := s.kept()
	if request.Body == nil {
		return captured{}, fmt.Errorf("%s sent no request within %s%s", o.Client.Title, time.Since(started).Round(time.Second), said.quoted())
	}
	for from, to := range replaced {
		request.Body = bytes.ReplaceAll(request.Body, encoded(from), encoded(to))
	}
	return captured{request, prompt, right, version}, nil
}

// privateFolder creates a folder below that of this program's state, which only the user can read.
func privateFolder(env []string) (string, error) {
	dir, err := files.StateDir(system.Here(env).Lookup)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	return os.MkdirTemp(dir, "context-")
}

// await waits for the request, and then for the end of the client and of all that it started.
func (o CaptureOptions) await(ctx context.Context, kept *keeper.Kept, s *standIn) error {
	gone := make(chan struct{})
	go func() { kept.Wait(); close(gone) }() // returns after the signals below at the latest
	if o.over == nil {
		limit := time.NewTimer(captureLimit)
		defer limit.Stop()
		o.over = limit.C
	}
	select {
	case <-s.recorded:
		end := time.NewTimer(ends)
		defer end.Stop()
		select {
		case <-gone:
		case <-end.C:
		case <-ctx.Done():
		}
	case <-gone:
	case <-o.over:
	case <-ctx.Done():
	}
	select {
	case <-gone:
	default:
		kept.Signal(endSignal())
		<-gone
	}
	return ctx.Err()
}

// endSignal is the signal that ends a client. In a background job of a shell SIGINT is ignored, by the keeper and the client, too.
func endSignal() os.Signal {
	if signal.Ignored(os.Interrupt) {
		return syscall.SIGTERM
	}
	return os.Interrupt
}

// Installed returns an error if a client's program is not found.
func Installed(c *agent.Client, env []string) error {
	if _, err := system.Here(env).ClientPath(c.Name, nil); err != nil {
		return fmt.Errorf("%s is not found: %w", c.Title, err)
	}
	return nil
}

// command returns the command that starts the client, after its files are written, and the paths of agent.Launch.For.
func (o CaptureOptions) command(url, private, prompt string) (cmd *exec.Cmd, replaced map[string]string, err error) {
	here := system.Here(o.Env)
	files, err := setup.Home{Lookup: here.Lookup}.Files(o.Client.Name)
	if err != nil {
		return nil, nil, err
	}
	launch := o.Client.Prefix.Start(agent.Occurrence{
		URL: url, Folder: private, Prompt: prompt, Dir: files.Dir, Entries: fileNames(files.Dir), Project: o.Folder, Alone: o.NoServers,
		Servers: Project{o.Client, o.Folder, here.Lookup}.Servers(), Settings: settingsOf(o.Client), Get: here.Get,
	})
	if err := furnish(private, launch); err != nil {
		return nil, nil, err
	}
	path, err := here.ClientPath(o.Client.Name, launch.Args)
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(path, launch.Args...)
	cmd.Dir, cmd.Env = o.Folder, clientEnv(o.Env, launch.Env)
	return cmd, launch.For, nil
}

// encoded returns a path as it is within a text of JSON.
func encoded(path string) []byte {
	b, _ := json.Marshal(path) // a text
	return b[1 : len(b)-1]
}

// furnish writes a launch's files and links into its private folder.
func furnish(private string, l agent.Launch) error {
	for name, data := range l.Files {
		text, err := json.Marshal(data)
		if err != nil {
			return err
		}
		path := filepath.Join(private, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	for name, target := range l.Links {
		if err := os.Symlink(target, filepath.Join(private, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// fileNames returns the names in a folder, none if it cannot be read.
func fileNames(folder string) (list []string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// clientEnv returns the user's environment with the launch's variables. Loopback is reached without a proxy.
func clientEnv(env []string, set map[string]string) []string {
	set = maps.Clone(set)
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		set[name] = strings.TrimPrefix(system.Here(env).Get(name)+",127.0.0.1", ",")
	}
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, there := set[name]
		return there
	})
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if set[name] != "" {
			env = append(env, name+"="+set[name])
		}
	}
	return env
}

// settingsOf returns a function that reads a file with settings. What cannot be read has none.
func settingsOf(c *agent.Client) func(path string) map[string]any {
	return func(path string) map[string]any {
		syntax := setup.Syntax{Client: c.Title, Format: agent.JSONC}
		if filepath.Ext(path) == ".toml" {
			syntax.Format = agent.TOML
		}
		return setup.File{Path: path, Syntax: syntax}.Object()
	}
}

// outputTail keeps the end of a client's output.
type outputTail struct{ text []byte }

func (t *outputTail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-1000):]
	return len(p), nil
}

// quoted returns the text for an error message.
func (t *outputTail) quoted() string {
	text := bytes.TrimSpace(t.text)
	if len(text) == 0 {
		return ""
	}
	return "; it said: " + strings.ToValidUTF8(string(text), "")
}
