package lineprune

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// caseFile is a file of testdata/prune: a text, and questions with the lines that
// answer them. A question without lines has no answer in the text.
type caseFile struct {
	name      string
	opts      Options // hints and budget
	text      string
	questions []caseQuestion
}

type caseQuestion struct {
	question string
	lines    []string
}

func loadCases(t *testing.T) []caseFile {
	t.Helper()
	names, err := filepath.Glob("../../testdata/prune/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	var files []caseFile
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		files = append(files, parseCase(t, strings.TrimSuffix(filepath.Base(name), ".txtar"), data))
	}
	return files
}

func parseCase(t *testing.T, name string, data []byte) caseFile {
	t.Helper()
	ar := txtar.Parse(data)
	f := caseFile{name: name}
	_, settings, found := strings.Cut(string(ar.Comment), "\n\n")
	require.True(t, found, "%s: a line on what it shows, a blank one, settings", name)
	for line := range strings.Lines(settings) {
		f.set(t, strings.TrimSpace(line))
	}
	for _, part := range ar.Files {
		switch part.Name {
		case "question":
			lines := strings.Split(strings.TrimSuffix(string(part.Data), "\n"), "\n")
			f.questions = append(f.questions, caseQuestion{lines[0], lines[1:]})
		case "text":
			f.text = string(part.Data)
		default:
			t.Fatalf("%s: unknown section %q", name, part.Name)
		}
	}
	require.NotEmpty(t, f.questions, name)
	require.NotEmpty(t, f.text, name)
	return f
}

func (f *caseFile) set(t *testing.T, line string) {
	t.Helper()
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "":
	case "budget":
		b, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err)
		f.opts.Budget = b
	case "command":
		f.opts.Command = value
	case "file":
		f.opts.File = value
	default:
		t.Fatalf("%s: unknown setting %q", f.name, line)
	}
}

// keptText returns the lines that Prune keeps.
func keptText(t *testing.T, text, question string, opts Options) (map[string]bool, Result) {
	t.Helper()
	res := prune(t, text, question, Auto, opts)
	lines, kept := doc.Lines(text), map[string]bool{}
	for _, k := range res.Kept {
		kept[lines[k-1]] = true
	}
	return kept, res
}

// floor is the smallest fraction of the answers' lines that must survive over all cases. In logs no answer
// line may be lost.
const floor = 0.85

// SPEC C: a small budget keeps the failure and its context in a log, and the answer lines of other texts.
func TestAnswersSurviveTheBudget(t *testing.T) {
	requireAnswers(t, func(f caseFile) Options { return f.opts })
}

// Without a budget, too, the lines that answer the question survive.
func TestAnswersSurviveTheGates(t *testing.T) {
	requireAnswers(t, func(f caseFile) Options { return Options{File: f.opts.File, Command: f.opts.Command} })
}

func requireAnswers(t *testing.T, opts func(caseFile) Options) {
	t.Helper()
	found, asked := 0, 0
	for _, f := range loadCases(t) {
		for _, q := range f.questions {
			kept, res := keptText(t, f.text, q.question, opts(f))
			for _, want := range q.lines {
				asked++
				if kept[want] {
					found++
					continue
				}
				t.Logf("%s: %q lost %q; kept %v of %d", f.name, q.question, want, res.Kept, res.Total)
				require.NotEqual(t, Logs, res.Kind, "a log lost its failure")
			}
			if b := opts(f).Budget; b > 0 {
				require.LessOrEqual(t, shareOf(f.text, res), b, f.name)
			}
		}
	}
	require.GreaterOrEqual(t, float64(found)/float64(asked), floor, "%d of %d lines", found, asked)
}

// SPEC C, Confidence: a text that does not cover the question is returned whole.
func TestNoAnswerComesBackWhole(t *testing.T) {
	for _, f := range loadCases(t) {
		for _, q := range f.questions {
			if len(q.lines) > 0 {
				continue
			}
			t.Run(f.name+"/"+q.question, func(t *testing.T) {
				opts := f.opts
				opts.Budget = 0
				_, res := keptText(t, f.text, q.question, opts)
				require.True(t, res.Whole())
				require.Equal(t, []string{LowConfidence}, res.Warnings)
			})
		}
	}
}

// The log of a run that passed is cut to its summary, even when the question asks about failures.
func TestPassedRunIsCutToItsSummary(t *testing.T) {
	data, err := os.ReadFile("../../testdata/prune/logs_go_pass.txtar")
	require.NoError(t, err)
	f := parseCase(t, "logs_go_pass", data)
	_, res := keptText(t, f.text, f.questions[0].question, Options{})
	require.Less(t, len(res.Kept), 10)
}

func shareOf(text string, res Result) float64 {
	lines, used, total := doc.Lines(text), 0, 0
	for _, line := range lines {
		total += tokens.Line(line)
	}
	for _, k := range res.Kept {
		used += tokens.Line(lines[k-1])
	}
	return float64(used) / float64(total)
}
