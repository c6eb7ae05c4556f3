//go:build unix

package httpserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// waits is a command that writes its process id and then sleeps until it is killed.
const waits = `echo $$ >pid.new; mv pid.new pid; sleep 600`

// waiting starts the command as a call. It returns the command's process id and a function that waits for
// the answer.
func (p *place) waiting(ctx context.Context, headers ...string) (pid int, end func() (int, error)) {
	p.t.Helper()
	status, failed := make(chan int, 1), make(chan error, 1)
	request := p.request("POST", "/mcp", strings.NewReader(bash(waits)), headers...).WithContext(ctx)
	go func() {
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			failed <- err
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		status <- response.StatusCode
	}()
	p.waitFor("pid")
	raw, err := os.ReadFile(p.root + "/pid")
	require.NoError(p.t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(string(raw)))
	require.NoError(p.t, err)
	return pid, func() (int, error) {
		select {
		case s := <-status:
			return s, nil
		case err := <-failed:
			return 0, err
		}
	}
}

func (p *place) dead(pid int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, time.Minute, 5*time.Millisecond, "the command lives on")
}

// When a client hangs up, its command is killed and its machine ends.
func TestAHangUpKillsTheCommand(t *testing.T) {
	p := newPlace(t, nil)
	ctx, hangUp := context.WithCancel(t.Context())
	pid, end := p.waiting(ctx)
	hangUp()
	_, err := end()
	require.Error(t, err)
	p.dead(pid)
	p.eventually("tool.internal_error", "cancelled")
}

// A cancellation arrives in a request of its own and finds the call by session and id.
func TestACancelKillsTheCommand(t *testing.T) {
	p := newPlace(t, nil)
	session := p.open("test")
	pid, end := p.waiting(t.Context(), session)
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	for _, header := range []string{"", p.open("other")} {
		_, _ = p.post(cancel, header)
		require.NoError(t, syscall.Kill(pid, 0), "another client's call was cancelled")
	}
	response, _ := p.post(cancel, session)
	assert.Equal(t, http.StatusAccepted, response.StatusCode)
	status, err := end()
	require.NoError(t, err)
	assert.Equal(t, http.StatusAccepted, status, "there is no answer")
	p.dead(pid)
	p.eventually("tool.internal_error", "cancelled")
}

// A call may take longer than the time limit for a body.
func TestOnlyTheBodyHasToHurry(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.BodyWithin = 100 * time.Millisecond })
	assert.Equal(t, "done\n", p.ask(bash("sleep 0.5; echo done")).text())

	body, slow := io.Pipe()
	defer slow.Close()
	go func() { _, _ = io.WriteString(slow, `{"jsonrpc":`) }()
	response, err := http.DefaultClient.Do(p.request("POST", "/mcp", body))
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusRequestTimeout, response.StatusCode)
	assert.True(t, response.Close, "what follows would be the rest of the body")
}

// A client that never reads loses its answer, and the server frees the memory.
func TestAnAnswerNobodyReads(t *testing.T) {
	p := newPlace(t, func(c *Config) { c.WriteWithin = 100 * time.Millisecond })
	body := call("bash", map[string]any{"command": "head -c 10000000 /dev/zero | tr '\\0' x", "max_output_bytes": 10 << 20})
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	require.NoError(t, err)
	p.eventually("tool.respond_failed", "")
}

// 64 clients at once: no command may finish before all of them run.
func TestNobodyWaitsForAnother(t *testing.T) {
	const clients = 64
	p := newPlace(t, nil)
	require.NoError(t, os.Mkdir(p.root+"/in", 0o755))
	require.NoError(t, syscall.Mkfifo(p.root+"/gate", 0o600))
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			session := p.open("test")
			assert.Equal(t, "met\n", p.ask(bash("touch in/$$; read -r < gate; echo met"), session).text())
		})
	}
	require.Eventually(t, func() bool {
		response, _ := p.send("GET", "/healthz", "")
		assert.Equal(t, http.StatusOK, response.StatusCode)
		in, err := os.ReadDir(p.root + "/in")
		require.NoError(t, err)
		return len(in) == clients
	}, 60*time.Second, 10*time.Millisecond)
	gate, err := os.OpenFile(p.root+"/gate", os.O_RDWR, 0) // opened once for all, so that no command can come too late
	require.NoError(t, err)
	defer gate.Close()
	_, err = gate.WriteString(strings.Repeat("\n", clients))
	require.NoError(t, err)
	all.Wait()
}

// After the first signal the server waits for the requests it has; after the second it does not.
func TestASecondSignalIsNotWaitedFor(t *testing.T) {
	p := newPlace(t, nil)
	l, err := web.Listen(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	ctx, end := context.WithCancel(t.Context())
	hurry, ended := make(chan struct{}), make(chan bool)
	go func() {
		graceful, _ := Serve(ctx, hurry, l, NewHandler(Config{Server: p.server, FinishWithin: time.Hour}))
		ended <- graceful
	}()
	p.url = "http://" + l.Addr().String()
	pid, _ := p.waiting(t.Context())
	end()
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, 10*time.Second, 5*time.Millisecond, "nothing new is accepted")
	require.NoError(t, syscall.Kill(pid, 0), "the call goes on")
	close(hurry)
	assert.True(t, <-ended, "the cancelled call ended in time")
	p.dead(pid)
}

// The machine ends only after the bytes are sent, so that the request's last state says that the client was
// answered.
func TestAnswersAreWhole(t *testing.T) {
	p := newPlace(t, nil)
	text := strings.Repeat("0123456789abcdef", 100_000)
	p.file("big.txt", text)
	assert.Equal(t, text, p.ask(call("read", map[string]any{"file_path": "big.txt", "max_output_bytes": 10 << 20})).text())
	p.eventually("tool.respond_ok", "")
}

// This is the only row that the stdio machine does not have.
func TestOutputThatIsTooLargeToPrune(t *testing.T) {
	const limit = 262144
	args := map[string]any{"file_path": "big.txt", "context_focus_question": "what?", "max_output_bytes": 10 << 20}
	read := func(env string, size int) answer {
		p := newPlaceWith(t, []string{env}, nil)
		p.file("big.txt", strings.Repeat("x", size))
		return p.ask(call("read", args))
	}
	pruning := func(a answer) map[string]any {
		m, _ := a.Result.StructuredContent["pruning"].(map[string]any)
		return m
	}
	over := read("PRUNER_URL=embedded", limit+1)
	assert.Equal(t, map[string]any{"attempted": false, "applied": false, "fallback": false, "reason": "too_large", "raw_bytes": limit + 1.0}, pruning(over))
	assert.Len(t, over.text(), limit+1)
	assert.Equal(t, true, pruning(read("PRUNER_URL=embedded", limit))["attempted"])
	assert.Equal(t, "disabled_or_unconfigured", pruning(read("PRUNER_URL=", limit+1))["reason"], "that row comes first")
}
