package trace

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func record(n int) *Record {
	return &Record{Machine: "request", ID: fmt.Sprintf("req_%d", n), Steps: []Step{{From: "a", Trigger: "b", To: "c"}}, Outcome: "c"}
}

// newTrace opens a trace in a folder of its own.
func newTrace(t *testing.T, o Options) (path string, f *File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "trace.jsonl")
	f, err := Open(path, o)
	require.NoError(t, err)
	return path, f
}

// reopen opens a trace as the next process does, and closes it.
func reopen(t *testing.T, path string) {
	t.Helper()
	f, err := Open(path, Options{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// appendNow appends a record and waits until its line is written.
func appendNow(t *File, r *Record) {
	t.Append(r, 0)
	_ = t.Flush() // some tests expect this to fail
}

// readTrace returns every record of the files.
func readTrace(t *testing.T, files ...string) []Record {
	t.Helper()
	var records []Record
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range bytes.Split(raw, []byte("\n")) {
			var r Record
			if len(line) > 0 && NewDecoder().Decode(line, &r) == nil {
				records = append(records, r)
			}
		}
	}
	return records
}

func TestLinesOfAProcessAreChained(t *testing.T) {
	path, trace := newTrace(t, Options{})
	for i := range 3 {
		appendNow(trace, record(i))
	}
	require.NoError(t, trace.Close())
	records := readTrace(t, path)
	require.Len(t, records, 3)
	prev := ""
	for i, r := range records {
		assert.Equal(t, uint64(i+1), r.Seq)
		assert.Equal(t, prev, r.Prev)
		assert.Len(t, r.Writer, 16)
		prev = r.Link
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "what tools were called is nobody else's business")
	}
}

// The lines form the same chain, no matter how much time passes between two records or
// whether the file was rotated, closed or removed in the meantime.
func TestTimeBetweenRecordsChangesNoLine(t *testing.T) {
	path, trace := newTrace(t, Options{MaxBytes: 1500})
	of := []string{"request", "run", "run"}
	for i := range 40 {
		r := record(i)
		r.Machine = of[i%len(of)]
		appendNow(trace, r)
		if i == 30 {
			require.NoError(t, trace.file.Close()) // the next record is lost, and the failure is reported
		}
	}
	files, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	require.Greater(t, len(files), 3)
	prev, lost := Record{}, 0
	for _, r := range readTrace(t, append(files, path)...) {
		require.Equal(t, prev.Seq+1, r.Seq)
		require.Equal(t, prev.Link, r.Prev)
		require.Equal(t, of[(int(r.Seq)-1+lost+r.Lost)%len(of)], r.Machine)
		prev, lost = r, lost+r.Lost
	}
	assert.Equal(t, uint64(39), prev.Seq)
	assert.Equal(t, 1, lost)
}

func TestATornLineDoesNotSwallowTheNext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(`{"v":1,"server":"0.`), 0o600))
	trace, err := Open(path, Options{})
	require.NoError(t, err)
	appendNow(trace, record(1))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(raw), "{\"v\":1,\"server\":\"0.\n{\"v\":3,"), "%s", raw)
}

func TestAFullDiskIsToldOnceAndCounted(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "trace.jsonl")
	var told []error
	trace, err := Open("/dev/full", Options{Failed: func(err error) { told = append(told, err) }})
	require.NoError(t, err)
	for i := range 5 {
		appendNow(trace, record(i))
	}
	require.Len(t, told, 1)
	assert.ErrorContains(t, told[0], "no space left on device")

	// The disk has space again.
	trace.path = path
	appendNow(trace, record(5))
	records := readTrace(t, path)
	require.Len(t, records, 1)
	assert.Equal(t, 5, records[0].Lost)
	assert.Equal(t, uint64(1), records[0].Seq)
}

func TestAClosedFileIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	failures := 0
	trace, err := Open(path, Options{Failed: func(error) { failures++ }})
	require.NoError(t, err)
	appendNow(trace, record(1))
	require.NoError(t, trace.file.Close()) // simulates a descriptor that other code has closed
	appendNow(trace, record(2))
	appendNow(trace, record(3))
	assert.Equal(t, 1, failures)
	records := readTrace(t, path)
	require.Len(t, records, 2)
	assert.Equal(t, 1, records[1].Lost)
	assert.Equal(t, records[0].Link, records[1].Prev)
}

func TestATraceThatWasMovedAwayIsStartedAnew(t *testing.T) {
	path, trace := newTrace(t, Options{})
	appendNow(trace, record(1))
	require.NoError(t, os.Rename(path, path+".old"))
	trace.looked = trace.looked.Add(-2 * lookEvery)
	appendNow(trace, record(2))
	assert.Len(t, readTrace(t, path), 1)
	assert.Len(t, readTrace(t, path+".old"), 1)
}

func TestWhatCannotBeATraceIsRefused(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "such", "folder"), ""} {
		_, err := Open(path, Options{})
		require.Error(t, err, path)
	}
	if _, err := exec.LookPath("mkfifo"); err == nil {
		pipe := filepath.Join(dir, "pipe")
		require.NoError(t, exec.Command("mkfifo", pipe).Run())
		_, err := Open(pipe, Options{})
		require.ErrorContains(t, err, "neither a file nor a device", "and not waited for a reader")
	}
	for _, terminal := range []string{"/dev/ptmx", "/dev/tty"} {
		if _, err := os.Stat(terminal); err == nil {
			_, err := Open(terminal, Options{})
			require.ErrorContains(t, err, "neither a file nor a device", terminal)
		}
	}
	for _, device := range []string{"/dev/null", "/dev/full"} {
		if _, err := os.Stat(device); err == nil {
			_, err := Open(device, Options{})
			require.NoError(t, err, device)
		}
	}
}

// Several processes, each with several goroutines, write to one trace that is rotated all
// the time: no line is lost, damaged or out of its chain.
func TestProcessesShareAndRotateOneTrace(t *testing.T) {
	path := os.Getenv("TRACE_TEST_PATH")
	const processes, goroutines, each = 4, 4, 250
	if path != "" { // this is one of the child processes
		trace, err := Open(path, Options{MaxBytes: 20_000, Failed: func(err error) { panic(err) }})
		require.NoError(t, err)
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for i := range each {
					appendNow(trace, record(g*each+i))
				}
			})
		}
		all.Wait()
		require.NoError(t, trace.Close())
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed there")
	}
	path = filepath.Join(t.TempDir(), "trace.jsonl")
	var running []*exec.Cmd
	for range processes {
		cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesShareAndRotateOneTrace$")
		cmd.Env = append(os.Environ(), "TRACE_TEST_PATH="+path)
		require.NoError(t, cmd.Start())
		running = append(running, cmd)
	}
	for _, cmd := range running {
		require.NoError(t, cmd.Wait())
	}
	files, err := filepath.Glob(path + ".*") // sorted by time
	require.NoError(t, err)
	assert.NotEmpty(t, files)
	last := map[string]Record{}
	total := 0
	for _, r := range readTrace(t, append(files, path)...) {
		require.Equal(t, last[r.Writer].Seq+1, r.Seq)
		require.Equal(t, last[r.Writer].Link, r.Prev)
		last[r.Writer] = r
		total++
	}
	assert.Equal(t, processes*goroutines*each, total)
	assert.Len(t, last, processes)
	for _, file := range files { // how far a file exceeds the limit depends on the speed of the other writers
		info, err := os.Stat(file)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, info.Size(), int64(20_000), filepath.Base(file))
	}
}
