package hook

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
)

func (w *world) log(lines string) map[string]any {
	return w.message("Bash", map[string]any{"command": "go test ./...", "description": "which test failed and why"}, map[string]any{"stdout": lines})
}

// TestHooksAtTheSameTime checks that each of several concurrent hooks is answered and has an original of
// its own, a whole line in the notes and a record.
func TestHooksAtTheSameTime(t *testing.T) {
	w := newWorld(t)
	const n = 12
	var all sync.WaitGroup
	answers := make([]string, n)
	for i := range n {
		all.Go(func() { answers[i] = w.hook([]string{"claude"}, w.log(failingTests())) })
	}
	all.Wait()
	here, err := os.Getwd()
	require.NoError(t, err)
	ids := map[string]bool{}
	s := state{dir: filepath.Join(w.state, "mcp-pruner")}
	for _, e := range ReadNotes(s.dir) {
		ids[e.ID] = true
		whole, _, err := recovery.ArchiveIn(s.dir).Get(e.ID, here)
		require.NoError(t, err)
		assert.Equal(t, failingTests(), whole)
	}
	assert.Len(t, ids, n)
	for _, answer := range answers {
		assert.Contains(t, answer, "want 3 retries, got 4")
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "hook-trace.jsonl"))
	require.NoError(t, err)
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }) // one that opens while another writes may add a blank line
	assert.Len(t, lines, n)
	decoder := trace.NewDecoder()
	for _, line := range lines {
		var r trace.Record
		require.NoError(t, decoder.Decode([]byte(line), &r), line)
	}
}

// TestWhatAKilledHookLeft checks that a partially written original, ledger entry, note or record does not
// disturb later hooks.
func TestWhatAKilledHookLeft(t *testing.T) {
	w := newWorld(t)
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	dir := filepath.Join(w.state, "mcp-pruner")
	spool := ledger.SpoolOf(filepath.Join(dir, "ledger.db")).Dir
	for file, text := range map[string]string{
		filepath.Join(dir, "originals", ".put-1"): "=== RUN", filepath.Join(spool, "put-1"): `{"Entry":{`,
		filepath.Join(spool, "put-2.json"): `{"Entry":{"Proj`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, name := range []string{"hooks.jsonl", "hook-trace.jsonl"} {
		file := filepath.Join(dir, name)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, append(text, text[:len(text)/2]...), 0o600))
	}
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	require.Contains(t, w.hook([]string{"claude"}, w.log(failingTests())), "recover prn_")
	code, out := gainVerb(w)
	require.Zero(t, code, out)
	w.hook([]string{"claude"}, map[string]any{"hook_event_name": "PreCompact", "session_id": "s"})
	require.Contains(t, w.hook([]string{"claude"}, map[string]any{"hook_event_name": "SessionStart", "source": "compact", "session_id": "s", "transcript_path": w.transcript}), "Bash")
	left, err := filepath.Glob(filepath.Join(spool, "*.json"))
	require.NoError(t, err)
	require.Empty(t, left, "what cannot be read is removed")
}

// TestTheClockJumps checks that originals with times in the future are kept and found, and that hooks work
// after originals became too old at once.
func TestTheClockJumps(t *testing.T) {
	w := newWorld(t)
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	s := state{dir: filepath.Join(w.state, "mcp-pruner")}
	id := ReadNotes(s.dir)[0].ID
	later := time.Now().AddDate(3, 0, 0)
	require.NoError(t, os.Chtimes(filepath.Join(s.dir, "originals", id), later, later))
	require.NoError(t, os.Chtimes(w.transcript, later, later))
	recovery.ArchiveIn(s.dir).Sweep()
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	code, whole := recoverVerb(t, w, id)
	require.Zero(t, code)
	require.Equal(t, failingTests(), whole)

	long := time.Now().AddDate(-3, 0, 0) // the clock was set forward
	require.NoError(t, os.Chtimes(filepath.Join(s.dir, "originals", id), long, long))
	recovery.ArchiveIn(s.dir).Sweep()
	code, _ = recoverVerb(t, w, id)
	require.Equal(t, 1, code)
	w.later()
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	code, out := gainVerb(w)
	require.Zero(t, code, out)
}

// TestAMegabyte checks that a large log is pruned and recovered exactly. Of a transcript of any length only
// the end is read.
func TestAMegabyte(t *testing.T) {
	w := newWorld(t)
	before, err := os.ReadFile(w.transcript)
	require.NoError(t, err)
	noise := strings.Repeat(`{"type":"user","sessionId":"s","message":{"role":"user","content":"something else"}}`+"\n", 40_000)
	require.NoError(t, os.WriteFile(w.transcript, append([]byte(noise), before...), 0o600))
	log := strings.Repeat("--- PASS: TestOther (0.00s)\n", 20_000) + failingTests() + strings.Repeat("--- PASS: TestMore (0.00s)\n", 20_000)
	out := hookOutput(t, w.hook([]string{"claude"}, w.log(log)))
	shown := text(child(out, "updatedToolOutput"), "stdout")
	require.Contains(t, shown, "want 3 retries, got 4")
	require.Less(t, len(shown), len(log)/10)
	s := state{dir: filepath.Join(w.state, "mcp-pruner")}
	code, whole := recoverVerb(t, w, ReadNotes(s.dir)[0].ID)
	require.Zero(t, code)
	require.True(t, whole == log, "the exact bytes")
}

// TestOutOfTime checks that a hook whose time is up prints nothing, exits with 0 and does not wait for the rest
// of the message.
func TestOutOfTime(t *testing.T) {
	w := newWorld(t)
	before := patience
	patience = time.Millisecond
	t.Cleanup(func() { patience = before })
	message, rest := io.Pipe() // nobody writes
	t.Cleanup(func() { _ = rest.Close() })
	var stdout, stderr bytes.Buffer
	p := command.Process{Args: []string{"claude"}, Env: []string{"XDG_STATE_HOME=" + w.state}, Stdin: message, Stdout: &stdout, Stderr: &stderr}
	require.Zero(t, command.Verb(context.Background(), Command(p), p))
	require.Empty(t, stdout.String()+stderr.String())
}
