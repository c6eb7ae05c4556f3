package audit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/tracetest"
)

// verified verifies the files of a trace.
func verified(t testing.TB, texts ...[]byte) *Trace {
	t.Helper()
	var sources []*Source
	for i, text := range texts {
		sources = append(sources, NewSource(fmt.Sprintf("trace%d", i+1), bytes.NewReader(text)))
	}
	v, err := Verify(sources, Options{All: true})
	require.NoError(t, err)
	return v
}

func verdict(t testing.TB, texts ...[]byte) Verdict {
	t.Helper()
	return verified(t, texts...).Verdict()
}

// answeredOne returns the last answered request of a trace, as the first line of a process of its own.
func answeredOne(t testing.TB) *trace.Record {
	t.Helper()
	for _, l := range slices.Backward(tracetest.Lines(tracetest.New(t).Trace(50))) {
		if r := tracetest.Decode(t, l); r.Outcome == "responded" {
			r.Writer, r.Seq, r.Prev, r.Seal = "feedfeedfeedfeed", 1, "", nil
			return tracetest.Decode(t, tracetest.Encode(r))
		}
	}
	require.FailNow(t, "nothing was answered")
	return nil
}

func TestAGoodTraceVerifies(t *testing.T) {
	text := tracetest.New(t).Trace(5000)
	v := verdict(t, text)
	require.Empty(t, v.Problems)
	assert.Empty(t, v.Notes)
	assert.True(t, v.OK)
	assert.Equal(t, 5000, v.Records)
	assert.Greater(t, v.Machines["run"], 10)
	assert.Equal(t, 5000, v.Machines["run"]+v.Machines["request"])

	// In two files, and in the other order of arguments.
	half := bytes.IndexByte(text[len(text)/2:], '\n') + len(text)/2 + 1
	assert.Empty(t, verdict(t, text[:half], text[half:]).Problems)
	assert.NotEmpty(t, verdict(t, text[half:], text[:half]).Problems)
	only := verdict(t, text[half:])
	assert.Empty(t, only.Problems, "a file whose beginning was put aside is in order by itself")
	assert.Contains(t, strings.Join(only.Notes, "\n"), "the first lines of process")
}

// What is done to a trace as a whole, by someone who makes every checksum fit.
func TestATraceThatWasTamperedWithIsFound(t *testing.T) {
	original := tracetest.Lines(tracetest.New(t).Trace(600))
	line := 300 // of a process that goes on behind it
	for name, c := range map[string]struct {
		do   func(lines [][]byte) [][]byte
		want string
	}{
		"a line changed": {func(l [][]byte) [][]byte {
			r := tracetest.Decode(t, l[line])
			r.Tool = "other"
			l[line] = tracetest.Encode(r)
			return l
		}, "which was changed after it was written"},
		"a line taken out": {func(l [][]byte) [][]byte { return slices.Delete(l, line, line+1) }, "1 line is missing"},
		"a line copied":    {func(l [][]byte) [][]byte { return slices.Insert(l, line, l[line]) }, "a line was copied or moved"},
		"a line moved up": {func(l [][]byte) [][]byte {
			moved := l[line]
			return slices.Insert(slices.Delete(l, line, line+1), 100, moved)
		}, "is missing that process"},
		"a line moved, with numbers that fit": {func(l [][]byte) [][]byte {
			r := tracetest.Decode(t, l[line])
			for i := line + 1; i < len(l); i++ {
				if next := tracetest.Decode(t, l[i]); next.Writer == r.Writer {
					r.Seq, next.Seq = next.Seq, r.Seq
					r.Prev, next.Prev = next.Prev, r.Prev
					l[line], l[i] = tracetest.Encode(next), tracetest.Encode(r)
					break
				}
			}
			return l
		}, "does not follow"},
		"a line put in": {func(l [][]byte) [][]byte {
			r := tracetest.Decode(t, l[line])
			r.ID, r.Seq, r.Prev = "req_new", r.Seq+1, r.Link
			return slices.Insert(l, line+1, tracetest.Encode(r))
		}, "a line was copied or moved"},
		"an id twice": {func(l [][]byte) [][]byte {
			r := tracetest.Decode(t, l[line])
			first := tracetest.Decode(t, l[len(l)-1])
			r.Writer, r.Seq, r.Prev = first.Writer, first.Seq+1, first.Link
			r.ID = first.ID
			return append(l, tracetest.Encode(r))
		}, "there is a record of its id already, in trace1 line"},
		"another table": {func(l [][]byte) [][]byte {
			r := tracetest.Decode(t, l[0])
			r.Table = "0000000000000000"
			return [][]byte{tracetest.Encode(r)}
		}, "not known to this program: use the version that wrote it (0.1.0)"},
	} {
		t.Run(name, func(t *testing.T) {
			v := verdict(t, bytes.Join(c.do(slices.Clone(original)), nil))
			require.False(t, v.OK)
			assert.Contains(t, strings.Join(v.Problems, "\n"), c.want)
		})
	}
}

// A changed byte in any line, its checksum left as it was.
func TestAnyChangeToAnyLineIsNamed(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(200))
	random := rand.New(rand.NewPCG(9, 10))
	for i := range lines {
		changed := slices.Clone(lines)
		line := bytes.Clone(lines[i])
		at := random.IntN(len(line) - 1)
		line[at] = "0aZ{}\",: "[random.IntN(9)]
		if bytes.Equal(line, lines[i]) {
			continue
		}
		changed[i] = line
		v := verdict(t, bytes.Join(changed, nil))
		require.False(t, v.OK, "%s", line)
		// A line whose end was changed looks torn: it is named so, and then missed.
		said := strings.Join(append(v.Notes, v.Problems...), "\n")
		assert.Contains(t, said, fmt.Sprintf("trace1: line %d: ", i+1))
	}
}

// A file of a program before the first release is not in order, and the first line says what to do.
func TestAFileOfAnOlderVersionIsNamed(t *testing.T) {
	old := bytes.ReplaceAll(tracetest.New(t).Trace(3), []byte(`{"v":3,`), []byte(`{"v":2,`))
	v := verdict(t, old)
	require.Len(t, v.Problems, 3)
	assert.Equal(t, "trace1: line 1: unknown schema version 2: a program before the first release wrote it, this one reads version 3: "+
		"move the file away, a server begins a new one", v.Problems[0])
}

func TestTornLinesAreNotTampering(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(100))
	text := bytes.Join(lines, nil)
	torn := []byte(`{"v":3,"server":"0.1.0","machine":"requ`)

	v := verdict(t, slices.Concat(text, torn))
	assert.True(t, v.OK, v.Problems)
	assert.Contains(t, v.Notes[0], "line 101: torn: it is the last and breaks off after 39 bytes")

	middle := slices.Insert(slices.Clone(lines), 50, append(slices.Clone(torn), '\n'))
	v = verdict(t, bytes.Join(middle, nil))
	assert.True(t, v.OK, v.Problems)
	assert.Contains(t, v.Notes[0], "line 51: torn: it breaks off after 39 bytes")

	glued := slices.Clone(lines)
	glued[50] = append(slices.Clone(torn), glued[50]...)
	v = verdict(t, bytes.Join(glued, nil))
	assert.True(t, v.OK, v.Problems)
	assert.Equal(t, 100, v.Records)
	assert.Contains(t, v.Notes[0], "line 51: 39 bytes of a torn record stand in front of another one")

	// A whole line that is cut short is tampering: what follows it is missing it.
	cut := slices.Clone(lines)
	cut[10] = append(slices.Clone(cut[10][:200]), '\n')
	v = verdict(t, bytes.Join(cut, nil))
	assert.False(t, v.OK)
}

// The samples were written by real servers; what they hold replays for ever.
func TestSamplesVerify(t *testing.T) {
	samples, err := filepath.Glob("../../../testdata/audit/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, file := range samples {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		v := verdict(t, text)
		assert.Empty(t, v.Problems)
		assert.Empty(t, v.Notes)
		assert.Equal(t, bytes.Count(text, []byte("\n")), v.Records)
	}
}

// BenchmarkVerify is a million lines when it runs with -benchtime=1x.
func BenchmarkVerify(b *testing.B) {
	text := tracetest.New(b).Trace(1_000_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v := verdict(b, text)
		require.Empty(b, v.Problems)
		require.Equal(b, 1_000_000, v.Records)
	}
	b.ReportMetric(float64(len(text))/1e6, "MB")
}

// An id is one request's, whoever says to have written it.
func TestAForgedProcessCannotRepeatAnID(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(20))
	forged := tracetest.Decode(t, lines[7])
	forged.Writer, forged.Seq, forged.Prev = "deadbeefdeadbeef", 1, ""
	v := verdict(t, bytes.Join(append(lines, tracetest.Encode(forged)), nil))
	require.Len(t, v.Problems, 1)
	assert.Contains(t, v.Problems[0], "there is a record of its id already, in trace1 line 8")
}

// Only what can be the beginning of a record passes as torn, and a whole record
// counts as one wherever it stands.
func TestOnlyBeginningsOfRecordsAreTorn(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(100))
	with := func(change func(l [][]byte) [][]byte) Verdict {
		return verdict(t, bytes.Join(change(slices.Clone(lines)), nil))
	}
	for name, front := range map[string]string{
		"words": "hello world ", "a byte order mark": "\ufeff", "a space": " ", "NULs": "\x00\x00",
		"other JSON": `{"v":3,"nonsense":{"a":`, "another record's end": `,"sum":"00"}`,
	} {
		v := with(func(l [][]byte) [][]byte { l[50] = append([]byte(front), l[50]...); return l })
		require.NotEmpty(t, v.Problems, name)
		assert.Contains(t, v.Problems[0], "line 51: what stands in front of a record is neither one nor the beginning of one", name)
	}
	v := with(func(l [][]byte) [][]byte { return append(l, []byte(`{"v":3,"nonsense":{"a":`)) })
	require.Len(t, v.Problems, 1)
	assert.Contains(t, v.Problems[0], "line 101: broken line")

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

	v = verdict(t, []byte(strings.Repeat(`{"v":`, 1000)))
	require.Len(t, v.Problems, 1)
	assert.Contains(t, v.Problems[0], "more than 16 records stand in one line")
}

// Records are written when they end. A clock may be set back, but not by months.
func TestTimesWithinAProcess(t *testing.T) {
	answer := answeredOne(t)
	for back, problems := range map[time.Duration]int{0: 0, time.Hour: 0, 29 * 24 * time.Hour: 0, 31 * 24 * time.Hour: 1, 27 * 365 * 24 * time.Hour: 1} {
		first, second := answer, tracetest.Decode(t, tracetest.Encode(answer))
		second.ID, second.Seq, second.Prev, second.Start = "req_later", 2, first.Link, first.Start.Add(-back)
		v := verdict(t, tracetest.Encode(first), tracetest.Encode(second))
		require.Len(t, v.Problems, problems, back)
		if problems > 0 {
			assert.Contains(t, v.Problems[0], "which was written before it")
		}
	}
}

func TestALineThatIsTooLongIsNamed(t *testing.T) {
	lines := tracetest.Lines(tracetest.New(t).Trace(5))
	for _, size := range []int{maxLineBytes + 1, maxLineBytes + 2, 2 * maxLineBytes} {
		long := append(bytes.Repeat([]byte("x"), size), '\n')
		text := bytes.Join(slices.Insert(slices.Clone(lines), 3, long), nil)
		v := verdict(t, text)
		require.Len(t, v.Problems, 1)
		assert.Equal(t, "trace1: line 4: the line is longer than 16 MiB, and no record is", v.Problems[0])
		assert.Equal(t, 5, v.Records)
		c, err := verified(t, text).Summarize(Selection{}, nil)
		require.NoError(t, err)
		assert.Equal(t, []int{5, 1}, []int{c.Stats.Records, c.Stats.Unreadable})
	}
	record := answeredOne(t)
	record.Detail = &trace.Detail{Path: strings.Repeat("p", maxLineBytes-4<<10)}
	if record.Tokens.Question > 0 {
		record.Detail.Question = "why?"
	}
	assert.Empty(t, verdict(t, tracetest.Encode(record)).Problems)
}

// Records carry the sizes of what stands beside the output: a note of any length is
// honest when it is recorded, and another text is not.
func TestWhatStandsBesideTheOutputIsRecorded(t *testing.T) {
	var r *trace.Record
	for _, line := range tracetest.Lines(tracetest.New(t).Trace(50)) {
		if r = tracetest.Decode(t, line); slices.ContainsFunc(r.Steps, func(s trace.Step) bool { return s.Trigger == fsm.NoQuestion }) {
			break
		}
	}
	r.Seal = nil
	r.Bytes.Raw, r.Bytes.Sent, r.Bytes.Wire = r.Bytes.Raw+5000, r.Bytes.Sent+5000, r.Bytes.Wire+9000
	assert.Len(t, verdict(t, tracetest.Encode(r)).Problems, 1)
	r.Bytes.Beside, r.Bytes.BesideSent = 5000, 5000
	assert.Empty(t, verdict(t, tracetest.Encode(r)).Problems)
}
