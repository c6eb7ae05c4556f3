package tracecmd

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
)

// What a record that amends another one must not say, each with checksums and
// numbers that fit.
func TestAnAmendingRecordDiffersInItsEndAlone(t *testing.T) {
	answer := responded(t, split0(newGenerator(t).trace(50)))
	for name, c := range map[string]struct {
		do   func(*trace.Record)
		want string
	}{
		"another session": {func(r *trace.Record) { r.Session = "ses_other" }, "more than its end"},
		"another tool":    {func(r *trace.Record) { r.Tool = "other" }, "more than its end"},
		"another client":  {func(r *trace.Record) { r.Client = "other" }, "more than its end"},
		"another start":   {func(r *trace.Record) { r.Start = r.Start.Add(-time.Second) }, "more than its end"},
		"another time":    {func(r *trace.Record) { r.Steps[1].Micros++ }, "more than its end"},
		"another size": {func(r *trace.Record) {
			for i, v := range r.Pruning {
				if n, ok := v.Value.(int64); ok && v.Field == "raw_bytes" {
					r.Pruning[i].Value = n + 1
				}
			}
		}, "more than its end"},
		"another way": {func(r *trace.Record) {
			abort := trace.Step{From: fsm.ExecutingTool, Trigger: fsm.Abort, To: fsm.InternalError, Row: "T24 E12",
				Events: []string{"tool.internal_error"}, Micros: 1 << 40, Why: "cancelled"}
			r.Steps, r.Pruning = append(r.Steps[:2], abort), nil
		}, "only an answer that could not be written is amended"},
		"the same": {func(r *trace.Record) {
			last := &r.Steps[len(r.Steps)-1]
			*last = answer.Steps[len(answer.Steps)-1]
			r.Outcome = answer.Outcome
		}, "only an answer that could not be written is amended"},
		"another process": {func(r *trace.Record) { r.Writer, r.Seq, r.Prev = "aaaaaaaaaaaaaaaa", 1, "" }, "more than its end"},
		"no amendment":    {func(r *trace.Record) { r.Amends = false }, "there is a record of its id already"},
	} {
		t.Run(name, func(t *testing.T) {
			second := amendmentOf(t, answer)
			c.do(second)
			v := verifyText(t, seal(answer), seal(second))
			require.Len(t, v.Problems, 1)
			assert.Contains(t, v.Problems[0], c.want)
		})
	}
	first, second := parsed(t, seal(amendmentOf(t, answer))), amendmentOf(t, answer)
	first.Amends, first.Seq, first.Prev = false, 1, ""
	sealed := seal(first)
	second.Prev = first.Link
	assert.Contains(t, verifyText(t, sealed, seal(second)).Problems[0], "which is not an answer")
}

// An id is one request's, whoever says to have written it.
func TestAForgedProcessCannotRepeatAnID(t *testing.T) {
	lines := split0(newGenerator(t).trace(20))
	forged := parsed(t, lines[7])
	forged.Writer, forged.Seq, forged.Prev = "deadbeefdeadbeef", 1, ""
	v := verifyText(t, bytes.Join(append(lines, append([]byte("\n"), seal(forged)...)), nil))
	require.Len(t, v.Problems, 1)
	assert.Contains(t, v.Problems[0], "there is a record of its id already, in trace1 line 8")
}

// Only what can be the beginning of a record passes as torn, and a whole record
// counts as one wherever it stands.
func TestOnlyBeginningsOfRecordsAreTorn(t *testing.T) {
	lines := split0(newGenerator(t).trace(100))
	with := func(change func(l [][]byte) [][]byte) audit.Verdict {
		return verifyText(t, bytes.Join(change(slices.Clone(lines)), nil))
	}
	for name, front := range map[string]string{
		"words": "hello world ", "a byte order mark": "\ufeff", "a space": " ", "NULs": "\x00\x00",
		"other JSON": `{"v":1,"nonsense":{"a":`, "another record's end": `,"sum":"00"}`,
	} {
		v := with(func(l [][]byte) [][]byte { l[50] = append([]byte(front), l[50]...); return l })
		require.NotEmpty(t, v.Problems, name)
		assert.Contains(t, v.Problems[0], "line 51: what stands in front of a record is neither one nor the beginning of one", name)
	}
	v := with(func(l [][]byte) [][]byte { l[99] = []byte(`{"v":1,"nonsense":{"a":`); return l })
	require.Len(t, v.Problems, 1)
	assert.Contains(t, v.Problems[0], "line 100: broken line")

	// The line end between two records is gone: both are read.
	v = with(func(l [][]byte) [][]byte { l[50] = bytes.TrimSuffix(l[50], []byte("\n")); return l })
	assert.Empty(t, v.Problems)
	assert.Equal(t, []string{"trace1: line 51: another record follows on the same line: the line end between them is missing"}, v.Notes)
	assert.Equal(t, 100, v.Records)
	v = with(func(l [][]byte) [][]byte {
		l[50] = bytes.Replace(bytes.TrimSuffix(l[50], []byte("\n")), []byte(`"us":`), []byte(`"us":1`), 1)
		return l
	})
	require.NotEmpty(t, v.Problems)
	assert.Contains(t, v.Problems[0], trace.ErrChecksum.Error())

	v = verifyText(t, []byte(strings.Repeat(`{"v":`, 1000)))
	require.Len(t, v.Problems, 1)
	assert.Contains(t, v.Problems[0], "more than 16 records stand in one line")
}

// Records are written when they end. A clock may be set back, but not by months.
func TestTimesWithinAProcess(t *testing.T) {
	answer := responded(t, split0(newGenerator(t).trace(50)))
	for back, problems := range map[time.Duration]int{0: 0, time.Hour: 0, 29 * 24 * time.Hour: 0, 31 * 24 * time.Hour: 1, 27 * 365 * 24 * time.Hour: 1} {
		first, second := answer, parsed(t, seal(answer))
		second.ID, second.Seq, second.Prev, second.Start = "req_later", 2, first.Link, first.Start.Add(-back)
		v := verifyText(t, seal(first), seal(second))
		require.Len(t, v.Problems, problems, back)
		if problems > 0 {
			assert.Contains(t, v.Problems[0], "which was written before it")
		}
	}
}

func TestVerifySaysOnlyWhatItSaw(t *testing.T) {
	lines := split0(newGenerator(t).trace(60))
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	write := func(text []byte) (stdout string) {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		stdout, _, _ = runTrace(t, "verify", path)
		return stdout
	}
	begun := write(bytes.Join(lines[10:], nil))
	assert.Contains(t, begun, "or were taken out; nothing here tells which")
	assert.Contains(t, begun, "from the first to the last line here of each process none is changed or missing")
	assert.Equal(t, "ok, but empty: there is no record in it, so nothing was verified\n", write(nil))
	assert.Contains(t, write([]byte("\n\n")), "line 1: the line is empty, the first of 2 such")
	assert.Contains(t, write(bytes.ReplaceAll(bytes.Join(lines, nil), []byte("\n"), []byte("\r\n"))), "line 1: the line ends in CR LF")
}

// A line that is too long is one bad line, and does not hide the others.
// maxLineBytes is the longest line that is read.
const maxLineBytes = 16 << 20

func TestALineThatIsTooLongIsNamed(t *testing.T) {
	lines := split0(newGenerator(t).trace(5))
	for _, size := range []int{maxLineBytes + 1, maxLineBytes + 2, 2 * maxLineBytes} {
		long := append(bytes.Repeat([]byte("x"), size), '\n')
		text := bytes.Join(slices.Insert(slices.Clone(lines), 3, long), nil)
		v := verifyText(t, text)
		require.Len(t, v.Problems, 1)
		assert.Equal(t, "trace1: line 4: the line is longer than 16 MiB, and no record is", v.Problems[0])
		assert.Equal(t, 5, v.Records)
		c, err := verified(t, text).Summarize(audit.Selection{}, nil)
		require.NoError(t, err)
		assert.Equal(t, []int{5, 1}, []int{c.Stats.Records, c.Stats.Unreadable})
	}
	record := responded(t, split0(newGenerator(t).trace(50)))
	record.Detail = &trace.Detail{Path: strings.Repeat("p", maxLineBytes-4<<10)}
	if record.Tokens.Question > 0 {
		record.Detail.Question = "why?"
	}
	assert.Empty(t, verifyText(t, seal(record)).Problems)
}

// Records carry the sizes of what stands beside the output: a note of any length is
// honest when it is recorded, and another text is not.
func TestWhatStandsBesideTheOutputIsRecorded(t *testing.T) {
	var r *trace.Record
	for _, line := range split0(newGenerator(t).trace(50)) {
		if r = parsed(t, line); slices.ContainsFunc(r.Steps, func(s trace.Step) bool { return s.Trigger == fsm.NoQuestion }) {
			break
		}
	}
	r.Schema = 3
	r.Bytes.Raw, r.Bytes.Sent, r.Bytes.Wire = r.Bytes.Raw+5000, r.Bytes.Sent+5000, r.Bytes.Wire+9000
	assert.Len(t, verifyText(t, seal(r)).Problems, 1)
	r.Bytes.Beside, r.Bytes.BesideSent = 5000, 5000
	assert.Empty(t, verifyText(t, seal(r)).Problems)
}

// Whoever forges a record chooses its names, and none of them may write lines of its
// own into what verify and stats print.
func TestForgedNamesPrintNoLines(t *testing.T) {
	const name = "x\x1b[2K\nok: 5 records\u202e\u009b"
	first, dir := parsed(t, split0(newGenerator(t).trace(1))[0]), t.TempDir()
	first.ID, first.Machine, first.Outcome, first.Steps[0].Why, first.Steps[0].From, first.Steps[0].Trigger = name, name, name, name, name, name
	second := *first
	second.Writer = "aaaaaaaaaaaaaaaa"
	path := filepath.Join(dir, "trace.jsonl")
	require.NoError(t, os.WriteFile(path, slices.Concat(seal(first), seal(&second)), 0o600))
	for _, args := range [][]string{{"verify", "--all", path}, {"stats", path}} {
		stdout, stderr, _ := runTrace(t, args...)
		require.Empty(t, stderr)
		assert.NotContains(t, stdout, "\nok: 5")
		assert.Contains(t, stdout, `x\x1b[2K\nok: 5 records\u202e\u009b`)
		assert.NotRegexp(t, "[\x1b\u009b\u202e]", stdout)
	}
}
