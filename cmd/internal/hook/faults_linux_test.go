package hook

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/cmd/internal/dev/smalldisk"
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
		return text(child(child(output(t, answer), "updatedToolOutput"), "file"), "content")
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
	assert.Less(t, bytesRead(t)-before-short, tailBytes+64<<10)
}

// TestAFullDiskCutsNothing checks that on a disk without space a hook prints nothing, and that it cuts again
// when there is space.
func TestAFullDiskCutsNothing(t *testing.T) {
	w := newWorld(t)
	dir, fill, free := smalldisk.New(t)
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
	left, err := filepath.Glob(filepath.Join(dir, "mcp-pruner", "originals", ".put-*"))
	require.NoError(t, err)
	require.Empty(t, left, "what could not be stored takes no space")
}

// TestRecordsOnAFullDiskCostNoPruning checks that a trace, an event log, notes and a ledger that cannot be
// written do not change the answer, if only the original can be stored.
func TestRecordsOnAFullDiskCostNoPruning(t *testing.T) {
	w := newWorld(t)
	dir, fill, free := smalldisk.New(t)
	w.state = dir
	state := filepath.Join(dir, "mcp-pruner")
	require.NoError(t, os.Mkdir(state, 0o700))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(state, "originals")))
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
