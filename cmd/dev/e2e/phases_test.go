//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// held is a run that stays in a phase until it is released.
type held struct {
	*world
	reached chan struct{} // closed when the run is in its phase
	release func()
}

// phases are the phases in which a run is ended.
var phases = []string{"starting", "model asked", "call running", "model asked again"}

// hold returns a world whose run stays in a phase.
func hold(t *testing.T, c client, phase string) *held {
	gate, there := make(chan struct{}), make(chan struct{})
	h := &held{reached: there, release: sync.OnceFunc(func() { close(gate) })}
	arrived := sync.OnceFunc(func() { close(there) })
	stay := func() { arrived(); <-gate }
	first, second := call("bash", map[string]any{"command": "true"}), done
	switch phase {
	case "model asked":
		first.Before = stay
	case "call running":
		first = call("bash", map[string]any{"command": "setsid sleep 300 & touch started; sleep 300"})
	case "model asked again":
		second.Before = stay
	}
	h.world = newWorld(t, c, first, second)
	t.Cleanup(h.release) // runs before the cleanup that closes the model
	return h
}

// await waits until the run is in its phase.
func (h *held) await(phase string) {
	h.t.Helper()
	switch phase {
	case "starting":
		require.Eventually(h.t, func() bool { return h.process(h.client.name) != 0 }, time.Minute, time.Millisecond)
	case "call running":
		require.Eventually(h.t, func() bool {
			_, err := os.Stat(filepath.Join(h.dir, "started"))
			return err == nil
		}, time.Minute, 5*time.Millisecond)
	default:
		select {
		case <-h.reached:
		case <-time.After(time.Minute):
			require.Fail(h.t, "the model was not asked")
		}
	}
}

// process finds a process of the run by its program: the client's name, "server" or "keeper".
func (h *held) process(what string) (pid int) {
	for _, line := range h.left() {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		program, args := filepath.Base(fields[1]), fields[2:]
		isKeeper := program == "mcp-pruner" && len(args) > 0 && args[0] == "keep" && strings.Contains(line, "/bin/"+h.client.name)
		isServer := program == "mcp-pruner" && (len(args) == 0 || args[0] == "serve")
		if program == what || what == "server" && isServer || what == "keeper" && isKeeper {
			pid, _ = strconv.Atoi(fields[0])
			return pid
		}
	}
	return 0
}

func (h *held) kill(what string) {
	if pid := h.process(what); pid != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// ends lists how a run is ended, with a check of the exit code.
var ends = []struct {
	name string
	do   func(h *held, runner *os.Process)
	code func(code int) bool
}{
	{"runner killed", func(_ *held, r *os.Process) { _ = r.Kill() }, func(code int) bool { return code == -1 }},
	{"runner interrupted", func(_ *held, r *os.Process) { _ = r.Signal(syscall.SIGINT) }, func(code int) bool { return code > 0 }},
	{"client killed", func(h *held, _ *os.Process) { h.kill(h.client.name) }, func(code int) bool { return code == 128+9 }},
	{"keeper killed", func(h *held, _ *os.Process) { h.kill("keeper") }, func(code int) bool { return code == 128+9 }},
	{"server and client killed", func(h *held, _ *os.Process) {
		h.kill("server")
		h.kill(h.client.name)
	}, func(code int) bool { return code == 128+9 }},
}

// TestEveryEndAtEveryPhase ends both clients in every way in every phase, over both transports. It proves that no
// process is left, that the run's events are true, and that its trace verifies.
func TestEveryEndAtEveryPhase(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		for _, phase := range phases {
			for _, end := range ends {
				for _, c := range both() {
					t.Run(strings.Join([]string{transport, phase, end.name, c.name}, "/"), func(t *testing.T) {
						t.Parallel()
						h := hold(t, c, phase)
						trace := filepath.Join(h.home, "trace.jsonl")
						cmd := h.command("--allow-bash", "--transport", transport, "--trace", trace)
						require.NoError(t, cmd.Start())
						h.await(phase)
						end.do(h, cmd.Process)
						_ = cmd.Wait()
						h.release()
						assert.True(t, end.code(cmd.ProcessState.ExitCode()), cmd.ProcessState.String())
						assert.Eventually(t, func() bool { return len(h.left()) == 0 }, 20*time.Second, 20*time.Millisecond, "%v", h.left())
						h.tellsTheTruth(transport, phase, end.name)
						if _, err := os.Stat(trace); err == nil {
							verified, stderr, err := h.verb("trace", "verify", trace)
							assert.NoError(t, err, stderr)
							assert.Equal(t, end.name != "runner killed", ofARun.MatchString(verified), verified)
						}
					})
				}
			}
		}
	}
}

// ofARun matches the output of "trace verify" for a trace that has the record of a run.
var ofARun = regexp.MustCompile(`\brun(-http)? 1\b`)

// tellsTheTruth checks the events about the end of the server of a run over HTTP. Over stdio the client runs the
// server, and there must be no such event.
func (h *held) tellsTheTruth(transport, phase, end string) {
	h.t.Helper()
	text := strings.Join(h.events(), "\n")
	stopped := strings.Count(text, "mcp_pruner.stopped")
	graceful := strings.Contains(text, `mcp_pruner.stopped {"graceful":true`)
	switch {
	case transport == "stdio", end == "runner killed":
		assert.Zero(h.t, stopped, text)
	case end == "server and client killed":
		assert.False(h.t, graceful, text)
	case phase != "starting":
		assert.True(h.t, graceful && stopped == 1, text)
	}
}
