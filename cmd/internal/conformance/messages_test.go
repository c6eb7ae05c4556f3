package conformance

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	fsmtrace "github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// ground lists the folders that must not repeat each other's messages.
var ground = []string{"fsm", "tools", "pruneclient"}

// TestNoPartKnowsAnothersMessages proves that no folder of ground repeats a sentence of another one, alone or within a
// longer string.
func TestNoPartKnowsAnothersMessages(t *testing.T) {
	texts := make(map[string]map[string]string) // file by text, by folder
	for _, part := range ground {
		texts[part] = sentences(t, part)
		require.NotEmpty(t, texts[part], part)
	}
	for part, own := range texts {
		for other, foreign := range texts {
			if part == other {
				continue
			}
			for text, at := range own {
				for longer, where := range foreign {
					assert.NotContains(t, longer, text, "%s repeats a message of %s", where, at)
				}
			}
		}
	}
}

var word = regexp.MustCompile(`(?:^|[\s("])[A-Za-z][a-z']*`)

// sentences returns the string literals of four words or more in a folder's code, without tests. Each is mapped to its
// file.
func sentences(t *testing.T, part string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(filepath.Join("../../..", part), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, err := strconv.Unquote(literal.Value)
				if err == nil && len(word.FindAllString(text, 4)) == 4 {
					found[text] = path
				}
			}
			return true
		})
		return nil
	})
	require.NoError(t, err)
	return found
}

// worded is a tool call, and its output, with the messages that a test case sets.
type worded struct{ text, notice, prunedNotice, question string }

func (w worded) FocusQuestion() string                     { return w.question }
func (w worded) Run(context.Context) (tools.Output, error) { return w, nil }
func (w worded) Code() string                              { return w.text }
func (w worded) Source() tools.Source                      { return tools.Source{} }
func (w worded) Text() string                              { return w.text }
func (w worded) Notice() string                            { return w.notice }
func (w worded) Structured(pruning any) any                { return pruning }

func (w worded) Prune(pruned string) (tools.Output, error) {
	w.text, w.notice = pruned, w.prunedNotice
	return w, nil
}

// TestRewordingAMessageForgesNothing proves that trace records verify for any notice that a tool adds to its text,
// before and after pruning.
func TestRewordingAMessageForgesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	file, err := fsmtrace.Open(path, fsmtrace.Options{})
	require.NoError(t, err)
	notices := []string{"", "no", "nothing was kept; ask again", strings.Repeat("ünchanged since s12. ", 40)}
	calls := 0
	for _, before := range notices {
		for _, after := range notices {
			for _, pruned := range []string{"", "short", "some of it\n[...]\n"} {
				run(t, file, worded{text: strings.Repeat("a line\n", 50), notice: before, prunedNotice: after, question: "why?"}, pruned)
				calls++
			}
		}
	}
	require.NoError(t, file.Close())
	require.NoError(t, audit.Open([]string{path}, nil, func(sources []*audit.Source) error {
		verified, err := audit.Verify(sources, audit.Options{})
		require.NoError(t, err)
		assert.Empty(t, verified.Verdict().Problems)
		assert.Equal(t, calls, verified.Verdict().Records)
		return nil
	}))
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, strings.Count(string(written), "\n"), calls)
}

// fixed is a pruner that returns the same text for every request.
type fixed string

func (f fixed) Prune(context.Context, pruneclient.Request) (pruneclient.Result, error) {
	return pruneclient.Result{Text: string(f)}, nil
}

func (fixed) Endpoint() string { return "fixed" }

// run runs one call through a pipeline whose pruner returns the given text.
func run(t *testing.T, file *fsmtrace.File, call worded, pruned string) {
	t.Helper()
	p := states.Pipeline{
		Machine: fsm.MustCompile(fsm.RequestTable()), Pruner: fixed(pruned),
		Tools: []tools.Tool{{Name: "worded", InputSchema: json.RawMessage(`{}`), Check: func(map[string]any) (tools.Call, []tools.Issue) {
			return call, nil
		}}},
		Observers: []states.Observer{states.Tracer{Trace: file}},
	}
	c := p.Run(t.Context(), states.Request{Params: map[string]any{"name": "worded", "arguments": map[string]any{}}})
	c.Answer()
	c.Answering(1000)
	c.Written(t.Context())
}
