package runnerfsm_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
)

// fakeServer is a server over HTTP as a script of a dialogue asks for one: it says
// where it listens, is healthy unless UNHEALTHY is set, and ends when it is told to
// unless STUBBORN is set: then it only says so. Its process id is in $WORK/server.
func fakeServer() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Getenv("WORK")+"/server", fmt.Append(nil, os.Getpid()), 0o600); err != nil {
		panic(err)
	}
	fmt.Fprintf(os.Stderr, `{"event":"mcp_pruner.ready","data":{"host":"127.0.0.1","port":%d}}`+"\n", listener.Addr().(*net.TCPAddr).Port)
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	go func() {
		for range end {
			if os.Getenv("STUBBORN") == "" {
				os.Exit(0)
			}
			fmt.Fprintln(os.Stderr, "told to end")
		}
	}()
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if os.Getenv("UNHEALTHY") != "" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write([]byte(`{"ok":true}`))
	})))
}

// TestHTTPDialogues plays every file of testdata/runner-http: a server and a client,
// both real processes running the file's scripts, and what the runner makes of them.
func TestHTTPDialogues(t *testing.T) {
	playAll(t, "../testdata/runner-http", fsm.HTTPRunTable(), func(t *testing.T, d *dialogue) runnerfsm.Result {
		over := httpDialogue{dialogue: d}
		result := over.play(t)
		over.check(t, result)
		return result
	})
}

// httpDialogue is one file. Its scripts find the events so far in $WORK/events.
type httpDialogue struct {
	*dialogue
	events safeBuffer
}

func (d *httpDialogue) play(t *testing.T) runnerfsm.Result {
	t.Helper()
	provider, ok := provider.ByName(d.keys["provider"])
	require.True(t, ok, "provider: %q", d.keys["provider"])
	self, err := os.Executable()
	require.NoError(t, err)
	d.env = append(d.env, "FAKE="+self)
	signals := make(chan os.Signal, 1)
	log := &interrupter{new(safeBuffer), d.keys["interrupt"], signals}
	result, err := runnerfsm.RunHTTP(context.Background(), runnerfsm.HTTPOptions{
		Options: runnerfsm.Options{
			ID: "run_1", Provider: provider, ProviderOptions: strings.Fields(d.keys["options"]), Prompt: d.keys["prompt"],
			Settings:     inject.Settings{Env: d.env, Dir: d.work, Root: d.work, Beside: d.in("bin")},
			StartTimeout: d.duration(t, "start-timeout"), Keeper: []string{self, "keep"}, Signals: signals,
			Stdin: strings.NewReader(d.stdin), Stdout: &interrupter{&d.stdout, d.keys["interrupt"], signals}, Stderr: &d.stderr,
			Emit: func(e fsm.Event) { d.log(t, e) },
		},
		ShutdownTimeout: d.duration(t, "shutdown-timeout"), HealthEvery: 100 * time.Millisecond, ServerLog: log,
		SilentFor: d.duration(t, "silent-for"),
		Check: func(env []string) error {
			if slices.Contains(env, "JEEVES_MCP_PRUNER_PORT=x") {
				return fmt.Errorf("invalid_port")
			}
			return nil
		},
	})
	require.NoError(t, err)
	return result
}

func (d *httpDialogue) log(t *testing.T, e fsm.Event) {
	assert.NoError(t, e.Check())
	assert.Empty(t, e.RequestID, "a run's events are the process's own")
	fmt.Fprintln(&d.events, e.Name)
	assert.NoError(t, os.WriteFile(d.in("events"), []byte(d.events.String()), 0o600))
}

var (
	port     = regexp.MustCompile(`(127\.0\.0\.1:|"port":)\d+`)
	secrets  = regexp.MustCompile(`/\S*/mcp-pruner-run-\d+`)
	duration = regexp.MustCompile(`("duration_ms":)\d+`)
)

// check compares what the file shows, less what differs from run to run, and that
// nothing is left of the server.
func (d *httpDialogue) check(t *testing.T, result runnerfsm.Result) {
	t.Helper()
	got := d.shown(t, result)
	got["events"] = d.events.String()
	if result.Server != nil {
		got["ended"] = fmt.Sprintf("graceful=%t kill_escalated=%t\n", result.Server.Graceful, result.Server.Escalated)
	}
	for name, text := range got {
		text = secrets.ReplaceAllString(text, "$$SECRETS")
		got[name] = duration.ReplaceAllString(port.ReplaceAllString(text, "${1}PORT"), "${1}MS")
	}
	d.compare(t, got)
	raw, err := os.ReadFile(d.in("server"))
	if err != nil {
		return // there was none
	}
	var pid int
	_, err = fmt.Sscan(string(raw), &pid)
	require.NoError(t, err)
	process, err := os.FindProcess(pid)
	if err == nil {
		err = process.Signal(syscall.Signal(0))
	}
	assert.ErrorIs(t, err, os.ErrProcessDone, "the server lives on")
}
