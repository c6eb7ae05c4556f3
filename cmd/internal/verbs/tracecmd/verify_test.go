package tracecmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
)

func verifyText(t testing.TB, texts ...[]byte) audit.Verdict {
	t.Helper()
	return verified(t, texts...).Verdict()
}

func verified(t testing.TB, texts ...[]byte) *audit.Trace {
	t.Helper()
	var sources []*audit.Source
	for i, text := range texts {
		sources = append(sources, audit.NewSource(fmt.Sprintf("trace%d", i+1), bytes.NewReader(text)))
	}
	v, err := audit.Verify(sources, audit.Options{All: true})
	require.NoError(t, err)
	return v
}

func split0(text []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func TestAGoodTraceVerifies(t *testing.T) {
	text := newGenerator(t).trace(5000)
	v := verifyText(t, text)
	require.Empty(t, v.Problems)
	assert.Empty(t, v.Notes)
	assert.True(t, v.OK)
	assert.Equal(t, 5000, v.Records)
	assert.Greater(t, v.Machines["run"], 10)
	assert.Equal(t, 5000, v.Machines["run"]+v.Machines["request"])

	// In two files, and in the other order of arguments.
	half := bytes.IndexByte(text[len(text)/2:], '\n') + len(text)/2 + 1
	assert.Empty(t, verifyText(t, text[:half], text[half:]).Problems)
	assert.NotEmpty(t, verifyText(t, text[half:], text[:half]).Problems)
	only := verifyText(t, text[half:])
	assert.Empty(t, only.Problems, "a file whose beginning was put aside is in order by itself")
	assert.Contains(t, strings.Join(only.Notes, "\n"), "the first lines of process")
}

// parsed is a line and its record, to be changed.
func parsed(t testing.TB, line []byte) *trace.Record {
	t.Helper()
	r := new(trace.Record)
	require.NoError(t, trace.NewDecoder().Decode(bytes.TrimSuffix(line, []byte("\n")), r))
	return r
}

func seal(r *trace.Record) []byte {
	introduce(r)
	return append(trace.Reseal(r), '\n')
}

// introduce gives a process' first line what it has to say.
func introduce(r *trace.Record) {
	if r.Process = nil; r.Seq == 1 && r.Schema != 1 && r.Schema != 2 {
		r.Process = &trace.Process{Key: "made up"}
	}
}

// What is done to a trace as a whole, by someone who makes every checksum fit.
func TestATraceThatWasTamperedWithIsFound(t *testing.T) {
	original := split0(newGenerator(t).trace(600))
	line := 300 // of a process that goes on behind it
	for name, c := range map[string]struct {
		do   func(lines [][]byte) [][]byte
		want string
	}{
		"a line changed": {func(l [][]byte) [][]byte {
			r := parsed(t, l[line])
			r.Tool = "other"
			l[line] = seal(r)
			return l
		}, "which was changed after it was written"},
		"a line taken out": {func(l [][]byte) [][]byte { return slices.Delete(l, line, line+1) }, "1 line is missing"},
		"a line copied":    {func(l [][]byte) [][]byte { return slices.Insert(l, line, l[line]) }, "a line was copied or moved"},
		"a line moved up": {func(l [][]byte) [][]byte {
			moved := l[line]
			return slices.Insert(slices.Delete(l, line, line+1), 100, moved)
		}, "is missing that process"},
		"a line moved, with numbers that fit": {func(l [][]byte) [][]byte {
			r := parsed(t, l[line])
			for i := line + 1; i < len(l); i++ {
				if next := parsed(t, l[i]); next.Writer == r.Writer {
					r.Seq, next.Seq = next.Seq, r.Seq
					r.Prev, next.Prev = next.Prev, r.Prev
					l[line], l[i] = seal(next), seal(r)
					break
				}
			}
			return l
		}, "does not follow"},
		"a line put in": {func(l [][]byte) [][]byte {
			r := parsed(t, l[line])
			r.ID, r.Seq, r.Prev = "req_new", r.Seq+1, r.Link
			return slices.Insert(l, line+1, seal(r))
		}, "a line was copied or moved"},
		"an id twice": {func(l [][]byte) [][]byte {
			r := parsed(t, l[line])
			first := parsed(t, l[len(l)-1])
			r.Writer, r.Seq, r.Prev = first.Writer, first.Seq+1, first.Link
			r.ID = first.ID
			return append(append(l[:len(l)-1], append(l[len(l)-1], '\n')), seal(r))
		}, "there is a record of its id already, in trace1 line"},
		"a record that amends nothing": {func(l [][]byte) [][]byte {
			r := amendmentOf(t, responded(t, l))
			r.Seq, r.Prev = 1, ""
			return append([][]byte{seal(r)}, l...)
		}, "it amends the record of"},
		"another table": {func(l [][]byte) [][]byte {
			r := parsed(t, l[0])
			r.Table = "0000000000000000"
			return [][]byte{seal(r)}
		}, "not known to this program: use the version that wrote it (0.1.0)"},
	} {
		t.Run(name, func(t *testing.T) {
			v := verifyText(t, bytes.Join(c.do(slices.Clone(original)), nil))
			require.False(t, v.OK)
			assert.Contains(t, strings.Join(v.Problems, "\n"), c.want)
		})
	}
}

// A changed byte in any line, its checksum left as it was.
func TestAnyChangeToAnyLineIsNamed(t *testing.T) {
	lines := split0(newGenerator(t).trace(200))
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
		v := verifyText(t, bytes.Join(changed, nil))
		require.False(t, v.OK, "%s", line)
		// A line whose end was changed looks torn: it is named so, and then missed.
		said := strings.Join(append(v.Notes, v.Problems...), "\n")
		assert.Contains(t, said, fmt.Sprintf("trace1: line %d: ", i+1))
	}
}

func TestTornLinesAreNotTampering(t *testing.T) {
	lines := split0(newGenerator(t).trace(100))
	text := bytes.Join(lines, nil)
	torn := []byte(`{"v":1,"server":"0.1.0","machine":"requ`)

	v := verifyText(t, append(slices.Clone(text), append([]byte("\n"), torn...)...))
	assert.True(t, v.OK, v.Problems)
	assert.Contains(t, v.Notes[0], "line 101: torn: it is the last and breaks off after 39 bytes")

	middle := slices.Insert(slices.Clone(lines), 50, append(slices.Clone(torn), '\n'))
	v = verifyText(t, bytes.Join(middle, nil))
	assert.True(t, v.OK, v.Problems)
	assert.Contains(t, v.Notes[0], "line 51: torn: it breaks off after 39 bytes")

	glued := slices.Clone(lines)
	glued[50] = append(slices.Clone(torn), glued[50]...)
	v = verifyText(t, bytes.Join(glued, nil))
	assert.True(t, v.OK, v.Problems)
	assert.Equal(t, 100, v.Records)
	assert.Contains(t, v.Notes[0], "line 51: 39 bytes of a torn record stand in front of another one")

	// A whole line that is cut short is tampering: what follows it is missing it.
	cut := slices.Clone(lines)
	cut[10] = append(slices.Clone(cut[10][:200]), '\n')
	v = verifyText(t, bytes.Join(cut, nil))
	assert.False(t, v.OK)
}

// responded is the last answered request of a trace, as the first line of its own
// process.
func responded(t testing.TB, lines [][]byte) *trace.Record {
	t.Helper()
	for _, l := range slices.Backward(lines) {
		if r := parsed(t, l); r.Outcome == "responded" {
			r.Schema, r.Bytes.Beside, r.Bytes.BesideSent = 2, 0, 0 // later versions amend nothing
			r.Writer, r.Seq, r.Prev = "feedfeedfeedfeed", 1, ""
			return parsed(t, seal(r))
		}
	}
	require.FailNow(t, "nothing was answered")
	return nil
}

// amendmentOf is the record that follows right behind that of an answer and says
// that it never arrived.
func amendmentOf(t testing.TB, r *trace.Record) *trace.Record {
	t.Helper()
	amended := parsed(t, seal(r))
	amended.Seq, amended.Prev, amended.Amends = r.Seq+1, amended.Link, true
	last := &amended.Steps[len(amended.Steps)-1]
	last.Trigger, last.To, last.Row, last.Events = fsm.WriteFailed, fsm.InternalError, "E11", []string{"tool.respond_failed"}
	amended.Outcome, amended.Bytes, amended.Tokens = "internal_error", trace.Bytes{}, trace.Tokens{}
	return amended
}

func TestAWriteThatFailedIsAmended(t *testing.T) {
	answer := responded(t, split0(newGenerator(t).trace(50)))
	first, second := seal(answer), seal(amendmentOf(t, answer))
	v := verifyText(t, append(slices.Clone(first), second...))
	require.Empty(t, v.Problems)
	assert.Equal(t, 1, v.Amended)

	c, err := verified(t, append(slices.Clone(first), second...)).Summarize(audit.Selection{}, nil)
	require.NoError(t, err)
	require.Len(t, c.Stats.Outcomes, 1)
	assert.Equal(t, "internal_error", c.Stats.Outcomes[0].Outcome)
	assert.Equal(t, 1, c.Stats.Records)

	assert.Contains(t, verifyText(t, append(slices.Clone(first), append(second, second...)...)).Problems[0], "copied or moved")
}

// The samples were written by real servers; what they hold replays for ever.
func TestSamplesVerify(t *testing.T) {
	samples, err := filepath.Glob("../../../../testdata/audit/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, file := range samples {
		stdout, stderr, code := runTrace(t, "verify", file)
		assert.Equal(t, exitOK, code, "%s%s", stdout, stderr)
		assert.Regexp(t, `^ok: \d+ records \((request|run)`, stdout)
	}
}

func runTrace(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	code = execute(t, args, &out, &err)
	return out.String(), err.String(), code
}

func execute(t testing.TB, args []string, stdout, stderr io.Writer) int {
	p := command.Process{Args: args, Env: os.Environ(), Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr}
	return command.Verb(t.Context(), Command(p), p)
}

func TestVerifyTellsWhereAndWhy(t *testing.T) {
	r := parsed(t, split0(newGenerator(t).trace(1))[0])
	r.Steps = r.Steps[:len(r.Steps)-1]
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, seal(r), 0o600))
	stdout, _, code := runTrace(t, "verify", path)
	assert.Equal(t, exitBad, code)
	assert.Regexp(t, `(?m)^BAD: .*trace\.jsonl: line 1: it ends in req:\w+, which is not a terminal state$`, stdout)
	stdout, _, code = runTrace(t, "verify", "--json", path)
	assert.Equal(t, exitBad, code)
	var v audit.Verdict
	require.NoError(t, json.Unmarshal([]byte(stdout), &v))
	assert.False(t, v.OK)
	assert.Len(t, v.Problems, 1)
}

func TestWrongUseIsSaid(t *testing.T) {
	t.Setenv("MCP_PRUNER_TRACE", "")
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "heads, list, report, stats or verify?"},
		{[]string{"eat"}, `there is no command "eat"`},
		{[]string{"verify"}, "which FILE?"},
		{[]string{"verify", "--since", "24h", "x"}, "unknown flag: --since"},
		{[]string{"stats", "--since", "soon", "x"}, `--since "soon" is neither a duration`},
		{[]string{"list", "--until", "soon", "x"}, `--until "soon" is neither a duration`},
		{[]string{"list", "--csv", "--json", "x"}, "--json or --csv?"},
		{[]string{"stats", "--limit", "-1", "x"}, "--limit is a number of bytes, not -1"},
	} {
		_, stderr, code := runTrace(t, c.args...)
		assert.Equal(t, command.Usage, code, c.args)
		assert.Contains(t, stderr, c.want)
	}
	stdout, _, code := runTrace(t, "--help")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "mcp-pruner trace [command]")
	_, stderr, code := runTrace(t, "verify", "no such file")
	assert.Equal(t, exitBad, code)
	assert.Contains(t, stderr, "no such file")
}

// A trace is cut where its server, log rotation or a person cut it, and the parts lie
// about under any names.
func TestFilesAreReadInTheOrderOfTheirTimes(t *testing.T) {
	lines, dir := split0(newGenerator(t).trace(400)), t.TempDir()
	part := func(name string, from, to int) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, bytes.Join(lines[from:to], nil), 0o600))
		return path
	}
	files := []string{
		part("t.jsonl", 300, 400), part("t.jsonl.1", 200, 300),
		part("t.jsonl.20261121T050000.000000000Z-0123456789abcdef", 100, 200),
		part("z/t.jsonl.20261120T050000.000000000Z-0123456789abcdef", 0, 100),
	}
	require.NoError(t, os.WriteFile(files[0]+".empty", nil, 0o600))
	stdout, stderr, code := runTrace(t, append([]string{"verify", files[0] + ".empty"}, files...)...)
	assert.Equal(t, exitOK, code, stdout+stderr)
	assert.Contains(t, stdout, "ok: 400 records")
	assert.NotContains(t, stdout, "first lines")

	pipe := bytes.NewReader(bytes.Join(lines[300:], nil))
	var out bytes.Buffer
	p := command.Process{Args: append([]string{"verify", "-"}, files[1:]...), Stdin: pipe, Stdout: &out, Stderr: &out}
	assert.Equal(t, exitOK, command.Verb(t.Context(), Command(p), p), "a pipe is put in order, too")
	assert.Contains(t, out.String(), "ok: 400 records")
}

// The variable names the trace when no argument does.
func TestTheVariableNamesTheTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, newGenerator(t).trace(3), 0o600))
	t.Setenv("MCP_PRUNER_TRACE", path)
	stdout, _, code := runTrace(t, "verify")
	assert.Equal(t, exitOK, code)
	assert.Contains(t, stdout, "ok: 3 records")
}

// BenchmarkVerify is a million lines when it runs with -benchtime=1x.
func BenchmarkVerify(b *testing.B) {
	text := newGenerator(b).trace(1_000_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		v := verifyText(b, text)
		require.Empty(b, v.Problems)
		require.Equal(b, 1_000_000, v.Records)
	}
	b.ReportMetric(float64(len(text))/1e6, "MB")
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAVerdictThatCannotBeWrittenIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	require.NoError(t, os.WriteFile(path, newGenerator(t).trace(3), 0o600))
	for _, args := range [][]string{{"verify", path}, {"verify", "--json", path}, {"stats", path}, {"list", path}, {"list", "--csv", path}, {"report", "-o", "-", path}} {
		var stderr bytes.Buffer
		assert.Equal(t, exitBad, execute(t, args, full{}, &stderr), args)
		assert.Contains(t, stderr.String(), "no space left on device", args)
	}
}
