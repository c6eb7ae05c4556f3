package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// bytesRead returns how many bytes this process has read from files so far.
func bytesRead(t *testing.T) (n int) {
	t.Helper()
	io, err := os.ReadFile("/proc/self/io")
	require.NoError(t, err)
	_, err = fmt.Sscanf(string(io), "rchar: %d\n", &n)
	require.NoError(t, err)
	return n
}

// TestALongTranscriptIsReadFromItsEnd checks that of a transcript of 100 MB the hook reads the last 512 kB,
// and finds the question there.
func TestALongTranscriptIsReadFromItsEnd(t *testing.T) {
	w := newWorld(t)
	message := w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1))
	cut := func() string {
		answer := w.hook([]string{"claude"}, message)
		return text(child(child(hookOutput(t, answer), "updatedToolOutput"), "file"), "content")
	}
	before := bytesRead(t)
	want := cut()
	short := bytesRead(t) - before
	require.Contains(t, want, "func openLedger", "the question is only in the transcript")

	end, err := os.ReadFile(w.transcript)
	require.NoError(t, err)
	f, err := os.Create(w.transcript)
	require.NoError(t, err)
	_, err = f.WriteAt(append([]byte("\n"), end...), 100<<20)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	before = bytesRead(t)
	assert.Equal(t, want, cut())
	assert.Less(t, bytesRead(t)-before-short, sessions.TailBytes+1<<20)
}

// TestAFullDiskCutsNothing checks that on a disk without space a hook prints nothing, and that it cuts again
// when there is space.
func TestAFullDiskCutsNothing(t *testing.T) {
	w := newWorld(t)
	dir, fill, free := tooltest.SmallDisk(t)
	w.state = dir
	fill()
	require.Empty(t, w.hook([]string{"claude"}, w.log(failingTests())), "nothing was ever stored")
	free()
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	fill()
	for range 3 {
		require.Empty(t, w.hook([]string{"claude"}, w.log(failingTests())), "the original cannot be stored")
	}
	require.Empty(t, w.hook([]string{"claude"}, map[string]any{"hook_event_name": "PreCompact", "session_id": "s"}))
	free()
	answer := w.hook([]string{"claude"}, w.log(failingTests()))
	require.Contains(t, answer, "recover prn_")
	code, whole := recoverVerb(t, w, answer[strings.Index(answer, "prn_"):][:12])
	require.Zero(t, code)
	require.Equal(t, failingTests(), whole)
	for _, folder := range []string{"originals", "index"} {
		left, err := os.ReadDir(filepath.Join(dir, "mcp-pruner", folder))
		require.NoError(t, err)
		require.Len(t, left, 2, "what could not be stored takes no space in %s", folder)
	}
}

// TestRecordsOnAFullDiskCostNoPruning checks that a trace, an event log, notes and a ledger that cannot be
// written do not change the answer, if only the original can be stored.
func TestRecordsOnAFullDiskCostNoPruning(t *testing.T) {
	w := newWorld(t)
	dir, fill, free := tooltest.SmallDisk(t)
	w.state = dir
	state := filepath.Join(dir, "mcp-pruner")
	require.NoError(t, os.Mkdir(state, 0o700))
	for _, stored := range []string{"originals", "index"} {
		require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(state, stored)))
	}
	fill()
	answer := w.hook([]string{"claude"}, w.log(failingTests()))
	require.Contains(t, answer, "want 3 retries, got 4")
	code, whole := recoverVerb(t, w, answer[strings.Index(answer, "prn_"):][:12])
	require.Zero(t, code)
	require.Equal(t, failingTests(), whole)
	written := func() (bytes int64) {
		require.NoError(t, filepath.WalkDir(state, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				info, infoErr := d.Info()
				bytes, err = bytes+info.Size(), infoErr
			}
			return err
		}))
		return bytes
	}
	require.Zero(t, written(), "the records had no space")
	free()
	require.NotEmpty(t, w.hook([]string{"claude"}, w.log(failingTests())))
	require.NotZero(t, written())
}

// fullPipe returns a pipe that takes no further byte, so that whoever writes to it waits.
func fullPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	raw, err := w.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Write(func(fd uintptr) bool {
		var err error
		for page := make([]byte, 4096); err == nil; {
			_, err = syscall.Write(int(fd), page)
		}
		return errors.Is(err, syscall.EAGAIN)
	}))
	return r, w
}

// TestAHookIsKilledHalfWay kills a hook that has stored its original and waits for the client to take the
// answer. Nothing was printed, the original can be recovered, and the next hook works and adds the killed hook's
// record to the trace.
func TestAHookIsKilledHalfWay(t *testing.T) {
	w := newWorld(t)
	message, err := json.Marshal(w.log(failingTests()))
	require.NoError(t, err)
	r, stdout := fullPipe(t)
	child := exec.Command(os.Args[0], "claude")
	child.Env = append(os.Environ(), childMode+"=1", "XDG_STATE_HOME="+w.state)
	child.Stdin, child.Stdout = bytes.NewReader(message), stdout
	require.NoError(t, child.Start())
	t.Cleanup(func() { _ = child.Process.Kill(); _ = child.Wait() })
	state := filepath.Join(w.state, "mcp-pruner")
	require.Eventually(t, func() bool {
		notes, err := filepath.Glob(filepath.Join(state, "hook-trace.jsonl.notes-????????????????"))
		if err != nil || len(notes) != 1 {
			return false
		}
		note, err := os.ReadFile(notes[0])
		const slot = 512
		return err == nil && note[0] == 0 && note[slot] == 1 // the note of the call was replaced by that of its answer
	}, time.Minute, 5*time.Millisecond)
	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	require.NoError(t, stdout.Close())
	printed, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, bytes.Trim(printed, "\x00"))

	stored, err := filepath.Glob(filepath.Join(state, "originals", "prn_*"))
	require.NoError(t, err)
	require.Len(t, stored, 1)
	code, whole := recoverVerb(t, w, filepath.Base(stored[0]))
	require.Zero(t, code)
	require.Equal(t, failingTests(), whole)
	w.later()
	require.Contains(t, w.hook([]string{"claude"}, w.log(failingTests())), "want 3 retries, got 4")
	code, out := gainVerb(w)
	require.Zero(t, code, out)
	text, err := os.ReadFile(filepath.Join(state, "hook-trace.jsonl"))
	require.NoError(t, err)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `"recovered":"`, "the killed hook's record")
	require.NotContains(t, lines[1], `"recovered":"`)
}
