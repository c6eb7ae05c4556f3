//go:build unix

package prefix

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// TestMain lets the test binary be the keeper and the client.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keep":
			os.Exit(keeper.Main(os.Args[2:]))
		case "client":
			fakeClient(os.Args[2], os.Args[3:])
		}
	}
	os.Exit(m.Run())
}

// fakeClient stands for Claude Code. It sends a helper request and, unless it hangs, the right one, and leaves a transcript.
func fakeClient(how string, args []string) {
	var prompt, file string
	for i, arg := range args {
		switch arg {
		case "-p":
			prompt = args[i+1]
		case "--settings":
			file = args[i+1]
		}
	}
	text, err := os.ReadFile(file)
	var settings struct{ Env map[string]string }
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	projects := filepath.Join(os.Getenv("HOME"), ".claude", "projects", "p")
	_ = os.MkdirAll(filepath.Join(projects, "memory"), 0o700)
	_ = os.WriteFile(filepath.Join(projects, "ours.jsonl"), []byte(`{"prompt":"`+prompt+`"}`), 0o600)
	_ = os.WriteFile(filepath.Join(projects, "theirs.jsonl"), []byte(`{"prompt":"of a session at the same time"}`), 0o600)
	child := exec.Command("sh", "-c", "trap '' INT TERM; while :; do sleep 1; done")
	_ = child.Start()
	ask := func(tool string) {
		body := `{"stream":true,"tools":[{"name":"` + tool + `","input_schema":{}}],"messages":[{"role":"user","content":"` + prompt + `"}]}`
		r, _ := http.NewRequest(http.MethodPost, settings.Env["ANTHROPIC_BASE_URL"]+"/v1/messages?beta=true", strings.NewReader(body))
		r.Header.Set("User-Agent", "claude-cli/9.8.7 (external)")
		r.Header.Set("X-Api-Key", os.Getenv("ANTHROPIC_API_KEY"))
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			text, _ := io.ReadAll(answer.Body)
			fmt.Println(string(text))
		}
	}
	ask("mcp__x__y")
	if how == "hang" {
		_, _ = http.Get(os.Getenv("CAPTURE_HANGS")) // it tells the test
		for {
			time.Sleep(time.Hour)
		}
	}
	if how == "fail" {
		fmt.Fprintln(os.Stderr, "no such option")
		os.Exit(3)
	}
	ask("Bash")
	os.Exit(0)
}

// captureWorld is a home folder with a client.
type captureWorld struct {
	CaptureOptions
	home string
	out  string
}

func newCaptureWorld(t *testing.T, how string) captureWorld {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	w := captureWorld{home: home, out: filepath.Join(home, "out")}
	bin := filepath.Join(home, "bin")
	require.NoError(t, os.MkdirAll(bin, 0o700))
	script := fmt.Sprintf("#!/bin/sh\nenv > '%s.env'\nexec '%s' client %s \"$@\" > '%s' 2>&1\n", w.out, self, how, w.out)
	if how == "fail" {
		script = "#!/bin/sh\necho no such option >&2\nexit 3\n"
	}
	require.NoError(t, os.WriteFile(filepath.Join(bin, "claude"), []byte(script), 0o700))
	w.CaptureOptions = CaptureOptions{
		Client: &agent.Claude, Folder: home, Keeper: []string{self, "keep"},
		Env: []string{"HOME=" + home, "PATH=" + bin + ":/usr/bin:/bin", "ANTHROPIC_API_KEY=sk-secret", "ANTHROPIC_AUTH_TOKEN=sk-secret", "CAPTURE_MARK=" + home},
	}
	return w
}

// hangs returns a channel that is closed when the client has its answer to the helper request and hangs.
func (w *captureWorld) hangs(t *testing.T) <-chan time.Time {
	t.Helper()
	told := make(chan time.Time)
	once := sync.OnceFunc(func() { close(told) })
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { once() }))
	t.Cleanup(s.Close)
	w.Env = append(w.Env, "CAPTURE_HANGS="+s.URL)
	return told
}

// alive lists the processes with the world's mark in their environment.
func (w captureWorld) alive() (found []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range paths {
		env, _ := os.ReadFile(path)
		if bytes.Contains(env, []byte("CAPTURE_MARK="+w.home+"\x00")) {
			found = append(found, path)
		}
	}
	return found
}

func (w captureWorld) leavesNothing(t *testing.T) {
	t.Helper()
	require.Empty(t, w.alive(), "processes")
	projects := filepath.Join(w.home, ".claude", "projects", "p")
	require.NoFileExists(t, filepath.Join(projects, "ours.jsonl"))
	require.NoDirExists(t, filepath.Join(projects, "memory"))
	private, err := filepath.Glob(filepath.Join(w.home, ".local", "state", "mcp-pruner", "*"))
	require.NoError(t, err)
	require.Empty(t, private)
}

func TestTheRightRequest(t *testing.T) {
	w := newCaptureWorld(t, "good")
	got, err := Capture(t.Context(), w.CaptureOptions)
	require.NoError(t, err)
	require.True(t, got.Complete)
	require.Equal(t, []string{"Bash"}, got.Request.Tools())
	require.Equal(t, "9.8.7", got.Version)
	require.Contains(t, string(got.Request.Body), got.Prompt)
	w.leavesNothing(t)
	require.FileExists(t, filepath.Join(w.home, ".claude", "projects", "p", "theirs.jsonl"))
	out, err := os.ReadFile(w.out)
	require.NoError(t, err)
	require.Contains(t, string(out), "event: message_stop")
	env, err := os.ReadFile(w.out + ".env")
	require.NoError(t, err)
	require.NotContains(t, string(env), "sk-secret", "the client gets none of the user's keys")
	for _, variable := range []string{"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "NO_PROXY=127.0.0.1"} {
		require.Contains(t, string(env), variable)
	}
}

func TestAClientThatHangs(t *testing.T) {
	w := newCaptureWorld(t, "hang")
	w.over = w.hangs(t)
	got, err := Capture(t.Context(), w.CaptureOptions)
	require.NoError(t, err)
	require.False(t, got.Complete, "what is known is better than nothing")
	require.Equal(t, []string{"mcp__x__y"}, got.Request.Tools())
	w.leavesNothing(t)
}

// TestAClientThatHangsInTheBackground: shells start background jobs with SIGINT ignored.
func TestAClientThatHangsInTheBackground(t *testing.T) {
	signal.Ignore(os.Interrupt)
	t.Cleanup(func() { signal.Reset(os.Interrupt) })
	w := newCaptureWorld(t, "hang")
	w.over = w.hangs(t)
	got, err := Capture(t.Context(), w.CaptureOptions)
	require.NoError(t, err)
	require.False(t, got.Complete)
	w.leavesNothing(t)
}

func TestInterrupted(t *testing.T) {
	w := newCaptureWorld(t, "hang")
	ctx, stop := context.WithCancel(t.Context())
	told := w.hangs(t)
	go func() {
		<-told
		assert.NotEmpty(t, w.alive())
		stop()
	}()
	_, err := Capture(ctx, w.CaptureOptions)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, w.alive())
}

func TestAClientThatFails(t *testing.T) {
	w := newCaptureWorld(t, "fail")
	_, err := Capture(t.Context(), w.CaptureOptions)
	require.ErrorContains(t, err, "Claude Code sent no request")
	require.ErrorContains(t, err, "no such option")
	w.Env = []string{"HOME=" + w.home, "PATH=/nowhere"}
	_, err = Capture(t.Context(), w.CaptureOptions)
	require.ErrorContains(t, err, "claude is not on PATH")
}

// TestStrangers: nobody without the address's secret part gets an answer.
func TestStrangers(t *testing.T) {
	s, err := listenStandIn([]string{"Bash"})
	require.NoError(t, err)
	defer s.close()
	at := s.url[:strings.LastIndex(s.url, "/")]
	answer, err := http.Post(at+"/v1/messages", "application/json", strings.NewReader(`{"tools":[{"name":"Bash"}],"messages":[]}`))
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
	require.NoError(t, answer.Body.Close())
	_, _, right := s.kept()
	require.False(t, right)
}
