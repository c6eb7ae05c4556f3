package trace

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process that holds the lock of a file due for rotation delays no request. The file is
// rotated once the lock is free.
func TestNobodyWaitsForALock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	trace, err := Open(path, Options{MaxBytes: 100, Failed: func(err error) { t.Error(err) }})
	require.NoError(t, err)
	appendNow(trace, record(1))
	other, err := os.Open(path)
	require.NoError(t, err)
	defer other.Close()
	require.NoError(t, syscall.Flock(int(other.Fd()), syscall.LOCK_EX))
	done := make(chan struct{})
	go func() {
		appendNow(trace, record(2))
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		require.FailNow(t, "it waits for the lock")
	}
	assert.Len(t, readTrace(t, path), 2)
	require.NoError(t, syscall.Flock(int(other.Fd()), syscall.LOCK_UN))
	appendNow(trace, record(3))
	assert.Len(t, readTrace(t, path), 1)
}

// The disk accepts a whole line except its newline: the record counts as written, and is
// neither written nor numbered again.
func TestOnlyTheEndOfALineIsMissing(t *testing.T) {
	const limit = 4096
	path := os.Getenv("TRACE_TEST_FULL")
	if path != "" { // this is the child process whose file size is limited
		signal.Ignore(syscall.SIGXFSZ)
		var unbounded syscall.Rlimit
		require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &unbounded))
		told := 0
		trace, err := Open(path, Options{Failed: func(error) { told++ }})
		require.NoError(t, err)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: unbounded.Max}))
		appendNow(trace, record(1))
		appendNow(trace, record(2))
		assert.Equal(t, 1, told)
		require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &unbounded))
		appendNow(trace, record(3))
		return
	}
	path = filepath.Join(t.TempDir(), "trace.jsonl")
	r := record(1)
	r.Writer, r.Seq = "0123456789abcdef", 1
	r.Process, r.Seal = &Process{Key: strings.Repeat("k", 43)}, &Seal{strings.Repeat("k", 43), strings.Repeat("k", 43), strings.Repeat("s", 86), false}
	before := bytes.Repeat([]byte("\n"), limit-len(reseal(r)))
	require.NoError(t, os.WriteFile(path, before, 0o600))
	cmd := exec.Command(os.Args[0], "-test.run=^TestOnlyTheEndOfALineIsMissing$")
	cmd.Env = append(os.Environ(), "TRACE_TEST_FULL="+path)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	records := readTrace(t, path)
	require.Len(t, records, 2)
	assert.Equal(t, []string{"req_1", "req_3"}, []string{records[0].ID, records[1].ID})
	assert.Equal(t, uint64(2), records[1].Seq)
	assert.Equal(t, 1, records[1].Lost)
	assert.Equal(t, records[0].Link, records[1].Prev)
}

// A file has its size and its place on the disk whether or not the file system can reserve them.
func TestSpaceIsReserved(t *testing.T) {
	for name, make := range map[string]func(*os.File, int) error{"reserved": reserve, "written": writeZeros} {
		f, err := os.CreateTemp(t.TempDir(), name)
		require.NoError(t, err)
		require.NoError(t, make(f, ringBytes))
		var stat syscall.Stat_t
		require.NoError(t, syscall.Fstat(int(f.Fd()), &stat))
		assert.EqualValues(t, ringBytes, stat.Size, name)
		require.NoError(t, f.Close())
	}
	r, w, err := os.Pipe()
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, r) }()
	require.NoError(t, reserve(w, ringBytes), "what cannot be reserved is written")
	require.NoError(t, w.Close())
}
