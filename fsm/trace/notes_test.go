package trace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// taken returns the record of a machine that took some triggers.
func taken(t *testing.T, table fsm.Table, id string, triggers ...fsm.Trigger) *Record {
	t.Helper()
	m := fsm.MustCompile(table).New(id, fsm.Hooks{})
	for _, trigger := range triggers {
		require.NoError(t, m.Fire(t.Context(), trigger, fsm.Facts{"tool": "read", "raw_bytes": 100, "reason": "unreachable"}))
	}
	r := new(Record)
	r.Take(m)
	return r
}

// underWay returns a record of a machine that waits for its answer to be written.
func underWay(t *testing.T, id, path string) *Record {
	t.Helper()
	r := taken(t, fsm.RequestTable(), id, fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion)
	r.Server, r.Session, r.Client, r.Tool, r.Subject, r.Part = "0.1.0", "ses_1", "x", "read", "0123456789abcdef", true
	r.Bytes = Bytes{Raw: 120, Sent: 120, Wire: 300, Beside: 20}
	if path != "" {
		r.Detail = &Detail{Path: path}
	}
	return r
}

func needsNotes(t *testing.T, f *File) {
	t.Helper()
	if f.notes == nil {
		t.Skip("there is no shared memory here")
	}
}

// killed closes a trace's files as the system does when it kills a process.
func killed(t *testing.T, f *File) {
	t.Helper()
	close(f.ended)
	f.gone.Wait()
	require.NoError(t, unmapFile(f.notes.ring))
	require.NoError(t, f.notes.file.Close())
	require.NoError(t, f.file.Close())
}

// The answers that a killed process was writing, and those it had written but not yet
// recorded, are added to the trace exactly once: by the next process that opens it.
func TestNotesOfAKilledProcessAreFoldedIn(t *testing.T) {
	path, first := newTrace(t, Options{})
	needsNotes(t, first)
	long := strings.Repeat("d/", 2000)
	for i, state := range []noteState{noteAnswering, noteWritten, noteFailed, noteFree, noteWritten} {
		r := underWay(t, fmt.Sprint("req_", i), []string{"", long}[i/4])
		first.notes.set(first.Note(r), state)
	}
	written := underWay(t, "req_9", "")
	note := first.Note(written)
	_ = written.live.Fire(t.Context(), fsm.Written, fsm.Facts{"tool": "read", "mode": "raw"})
	again := new(Record)
	again.Take(written.live)
	first.Append(again, note)
	require.NoError(t, first.Flush())
	first.notes.ring[3*slotBytes] = byte(noteAnswering) // killed before it could free the slot
	killed(t, first)

	reopen(t, path)
	records := map[string]Record{}
	replayer := NewReplayer()
	for _, r := range readTrace(t, path) {
		require.NotContains(t, records, r.ID)
		require.NoError(t, replay(replayer, &r))
		records[r.ID] = r
	}
	require.Len(t, records, 5)
	for id, want := range map[string]Answer{"req_0": Unconfirmed, "req_1": "", "req_2": Unwritten, "req_4": ""} {
		assert.Equal(t, want, records[id].Answer, id)
		assert.Equal(t, first.writer, records[id].Recovered, id)
	}
	assert.Equal(t, Bytes{Raw: 120, Sent: 120, Wire: 300, Beside: 20}, records["req_1"].Bytes)
	assert.Equal(t, long, records["req_4"].Detail.Path)
	assert.Empty(t, records["req_9"].Recovered)
	left, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	assert.Empty(t, left)
}

// A run that a kill interrupted is recorded in the state that it was in; one that had just
// ended is recorded with its end.
func TestNotesOfRuns(t *testing.T) {
	path, first := newTrace(t, Options{})
	needsNotes(t, first)
	run := func(id string, triggers ...fsm.Trigger) *Record {
		r := taken(t, fsm.RunTable(), id, triggers...)
		r.Server, r.Client = "0.1.0", "x"
		return r
	}
	first.Note(run("run_1", fsm.ConfigResolved, fsm.ServerReady))
	first.Renote(first.Note(run("run_2", fsm.ConfigResolved, fsm.ServerReady)), run("run_2", fsm.ConfigResolved, fsm.ServerReady, fsm.ServerFailed))
	first.notes.set(first.Note(run("run_3", fsm.ConfigResolved, fsm.ServerReady)), noteWritten)
	killed(t, first)

	reopen(t, path)
	outcomes := map[string]string{}
	replayer := NewReplayer()
	for _, r := range readTrace(t, path) {
		require.NotContains(t, outcomes, r.ID)
		require.NoError(t, replay(replayer, &r))
		assert.Equal(t, first.writer, r.Recovered)
		assert.Equal(t, "x", r.Client)
		outcomes[r.ID] = r.Outcome
		r.Recovered = ""
		if r.Outcome != fsm.RunShutdown.Short() {
			assert.ErrorContains(t, replay(replayer, &r), "not a terminal state", "only a kill interrupts a run")
		}
	}
	assert.Equal(t, map[string]string{"run_1": "mcp_pruner_running", "run_2": "mcp_pruner_degraded", "run_3": "shutdown"}, outcomes)
}

// An answer whose line a kill tore is added, although its id is in the trace.
func TestNotesOfTornLinesAreFoldedIn(t *testing.T) {
	for _, after := range []string{"", "\n", "another record"} {
		path, first := newTrace(t, Options{})
		needsNotes(t, first)
		r := underWay(t, "req_1", "")
		first.notes.set(first.Note(r), noteWritten)
		line := AppendRecord(nil, r)
		if after == "another record" {
			after = string(AppendRecord(nil, underWay(t, "req_2", "")))
		}
		_, err := first.file.WriteString(string(line[:len(line)-20]) + after)
		require.NoError(t, err)
		killed(t, first)
		reopen(t, path)
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(string(raw), `"recovered":"`+first.writer+`","id":"req_1"`), "%s", raw)
	}
}

// The notes of a live process are left alone.
func TestNotesOfALivingProcessStay(t *testing.T) {
	path, first := newTrace(t, Options{})
	needsNotes(t, first)
	first.Note(underWay(t, "req_1", ""))
	reopen(t, path)
	assert.Empty(t, readTrace(t, path))
	require.NoError(t, first.Close())
}

// When there are more answers in progress than slots, notes go into the overflow, which
// shrinks again.
func TestNotesOverflow(t *testing.T) {
	_, f := newTrace(t, Options{})
	needsNotes(t, f)
	var all []Note
	r := underWay(t, "req_1", "")
	for range slots + 10 {
		all = append(all, f.Note(r))
	}
	assert.Equal(t, 10, f.notes.overflow)
	raw, err := os.ReadFile(f.notes.path)
	require.NoError(t, err)
	assert.Len(t, readNotes(raw), slots+10)
	for _, note := range all {
		f.notes.set(note, noteFree)
	}
	info, err := f.notes.file.Stat()
	require.NoError(t, err)
	assert.EqualValues(t, ringBytes, info.Size())
	assert.Len(t, f.notes.free, slots)
	require.NoError(t, f.Close())
}

func FuzzNotes(f *testing.F) {
	m := fsm.MustCompile(fsm.RequestTable()).New("req_1", fsm.Hooks{})
	_ = m.Fire(f.Context(), fsm.ParseFailed, fsm.Facts{"message": "x"})
	r := new(Record)
	r.Take(m)
	f.Add(r.appendNote(nil))
	f.Add([]byte{})
	tables := NewReplayer().Tables()
	f.Fuzz(func(_ *testing.T, in []byte) { _, _ = readNote(in, noteWritten, tables) })
}

type keptHeads []Head

func (k *keptHeads) Keep(h Head) error {
	*k = append(*k, h)
	return nil
}

// Every batch is sealed, each seal names the key of the next, and heads are reported at the
// start, after every batch, and at the end.
func TestSealsAndHeads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	var heads keptHeads
	f, err := Open(path, Options{Process: Process{Run: "run_1", Host: "h", User: "u", Root: "/r", PID: 7, Transport: "hook"}, Heads: &heads})
	require.NoError(t, err)
	for batch := range 30 {
		for i := range 50 {
			f.Append(record(batch*50+i), 0)
		}
		require.NoError(t, f.Flush())
	}
	require.NoError(t, f.Close())
	records := readTrace(t, path)
	require.Len(t, records, 1500)
	key, sealed := records[0].Process.Key, 0
	assert.Equal(t, Process{Key: key, Run: "run_1", Host: "h", User: "u", Root: "/r", PID: 7, Transport: "hook"}, *records[0].Process)
	for i, r := range records {
		if r.Seal == nil {
			continue
		}
		require.True(t, r.Seal.Valid(), "line %d", i+1)
		require.Equal(t, key, r.Seal.By)
		key, sealed = r.Seal.Next, sealed+1
	}
	require.NotNil(t, records[1499].Seal)
	assert.Less(t, sealed, 300, "a seal is of many lines, however often a slow machine flushes in between")
	require.Len(t, heads, sealed+2)
	assert.Equal(t, Head{Writer: f.writer, Key: records[0].Process.Key}, heads[0])
	for _, h := range heads[1:] {
		assert.Equal(t, records[h.Seq-1].Link, h.Link)
		assert.Equal(t, records[h.Seq-1].Seal.Next, h.Key)
	}
	assert.Equal(t, Head{Writer: f.writer, Seq: 1500, Link: records[1499].Link, Key: key, Final: true}, heads[sealed+1])
}

func TestAForgedSealIsNotValid(t *testing.T) {
	path, f := newTrace(t, Options{})
	appendNow(f, record(1))
	require.NoError(t, f.Close())
	r := readTrace(t, path)[0]
	require.True(t, r.Seal.Valid())
	r.ID = "req_2"
	var back Record
	require.NoError(t, NewDecoder().Decode(reseal(&r), &back))
	require.False(t, back.Seal.Valid())
}

// A symbolic link and a file that other users may write to are refused.
func TestALinkAndAFileOfOthersAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there it is not a matter of modes")
	}
	dir := t.TempDir()
	target, path := filepath.Join(dir, "target"), filepath.Join(dir, "trace.jsonl")
	require.NoError(t, os.WriteFile(target, nil, 0o600))
	require.NoError(t, os.Symlink(target, path))
	_, err := Open(path, Options{})
	require.ErrorContains(t, err, "symbolic link")
	require.ErrorContains(t, Check(path), "symbolic link")
	require.NoError(t, Check(target))
	require.NoError(t, os.Chmod(target, 0o644))
	require.NoError(t, Check(target))
	info, err := os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), "others may not read it any longer")
	require.NoError(t, os.Chmod(target, 0o622))
	_, err = Open(target, Options{})
	require.ErrorIs(t, err, errOthers)
}

// At most Keep rotated files are kept.
func TestOldFilesAreRemoved(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed there")
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	var removed []string
	f, err := Open(path, Options{MaxBytes: 1, Keep: 3, Removed: func(file string) { removed = append(removed, file) }})
	require.NoError(t, err)
	for i := range 6 {
		appendNow(f, record(i))
	}
	require.NoError(t, f.Close())
	files, err := f.asides()
	require.NoError(t, err)
	assert.Len(t, files, 3)
	assert.Len(t, removed, 2)
	assert.Len(t, readTrace(t, append(files, path)...), 4)
}

func TestAFileIsPutAsideWhenItIsOld(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be renamed there")
	}
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	old := record(1)
	old.Writer, old.Seq = "0123456789abcdef", 1
	old.Start = old.Start.AddDate(2020, 0, 0)
	require.NoError(t, os.WriteFile(path, append(reseal(old), '\n'), 0o600))
	f, err := Open(path, Options{MaxAge: 1000})
	require.NoError(t, err)
	appendNow(f, record(2))
	require.NoError(t, f.Close())
	files, err := f.asides()
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Len(t, readTrace(t, path), 1)
}

// The zeros that a loss of power leaves in a line make it a torn line.
func TestZerosAtTheEndAreATornLine(t *testing.T) {
	r := record(1)
	line := reseal(r)
	for _, left := range []string{"\x00\x00\x00", string(line[:40]) + "\x00\x00", string(line[:1]) + "\x00"} {
		var back Record
		require.ErrorIs(t, NewDecoder().Decode([]byte(left), &back), ErrTorn, "%q", left)
	}
	var back Record
	require.False(t, errors.Is(NewDecoder().Decode([]byte("hello\x00"), &back), ErrTorn))
}

// A call that is under way when the trace is closed, or when the process is killed, has a record that ends in the state
// that the call was in.
func TestCallsUnderWayAreRecorded(t *testing.T) {
	running := func(id string) *Record {
		r := taken(t, fsm.RequestTable(), id, fsm.Accept, fsm.ArgumentsValid)
		r.Tool = "bash"
		return r
	}
	path, f := newTrace(t, Options{})
	note := f.Note(running("req_1"))
	require.NoError(t, f.Close())
	assert.Zero(t, f.Renote(note, running("req_1")), "a call that outlives the trace has nowhere to write")

	first, err := Open(path, Options{})
	require.NoError(t, err)
	first.Note(running("req_2"))
	killed(t, first)
	reopen(t, path)

	records := readTrace(t, path)
	require.Len(t, records, 2)
	replayer := NewReplayer()
	for i, r := range records {
		assert.Equal(t, fmt.Sprintf("req_%d", i+1), r.ID)
		assert.Equal(t, []any{Interrupted, "executing_tool", "bash"}, []any{r.Answer, r.Outcome, r.Tool})
		require.NoError(t, replay(replayer, &r))
		r.Answer = ""
		require.ErrorContains(t, replay(replayer, &r), "not a terminal state")
	}
	assert.Empty(t, records[0].Recovered)
	assert.Equal(t, first.writer, records[1].Recovered)
}
