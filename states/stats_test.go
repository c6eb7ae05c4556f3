package states_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// oneLine is a pruner that keeps the first line.
type oneLine struct{}

func (oneLine) Prune(_ context.Context, r pruneclient.Request) (pruneclient.Result, error) {
	first, _, _ := strings.Cut(r.Text, "\n")
	return pruneclient.Result{Text: first + "\n"}, nil
}

func (oneLine) Endpoint() string { return "test" }

// TestNetIsCountedAgainstWhatTheClientIsSentWithoutAQuestion makes the same call with and without a question, for each
// client and tool. The tokens that stats says would have been shown without pruning are those that were shown.
func TestNetIsCountedAgainstWhatTheClientIsSentWithoutAQuestion(t *testing.T) {
	root := t.TempDir()
	var text strings.Builder
	for n := range 20_000 {
		fmt.Fprintf(&text, "line %d of a file that no client shows whole: needle\n", n)
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "big.txt"), []byte(text.String()), 0o600))
	list, err := tools.New(tools.Settings{Root: root, NonzeroExitAsOutput: true, Env: func() []string { return []string{"PATH=" + os.Getenv("PATH")} }})
	require.NoError(t, err)
	for _, client := range []string{"claude-code", "codex-mcp-client", "opencode", "gemini-cli-mcp-client", "some-client"} {
		for tool, args := range map[string]map[string]any{
			"read": {"file_path": "big.txt"},
			"bash": {"command": "cat big.txt"},
			"grep": {"pattern": "needle", "max_matches": 5000.0},
		} {
			t.Run(client+" "+tool, func(t *testing.T) {
				call := func(question string) audit.Saved { return savedBy(t, list, client, tool, args, question) }
				plain, asked := call(""), call("where is the needle of line 17")
				require.Zero(t, plain.Gross)
				assert.Less(t, plain.Without, 40_000)
				assert.InEpsilon(t, plain.Without, asked.Without, 0.06, "the same text, by a fast and by a more accurate estimate")
				assert.Less(t, asked.Net, asked.Without)
				assert.Greater(t, asked.Net, asked.Without*9/10, "one line and the question are all that is paid")
			})
		}
	}
}

// savedBy runs one call through a pipeline with a trace and returns what the stats of the trace say about it.
func savedBy(t *testing.T, list []tools.Tool, client, tool string, args map[string]any, question string) audit.Saved {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.jsonl")
	file, err := trace.Open(path, trace.Options{})
	require.NoError(t, err)
	p := &states.Pipeline{
		Machine: fsm.MustCompile(fsm.RequestTable()), Tools: list, Pruner: oneLine{},
		Keep:      func(context.Context, string) (string, error) { return "prn_00000001", nil },
		Observers: []states.Observer{states.Tracer{Trace: file}},
	}
	arguments := map[string]any{}
	for k, v := range args {
		arguments[k] = v
	}
	if question != "" {
		arguments["context_focus_question"] = question
	}
	c := p.Run(t.Context(), states.Request{Client: client, Params: map[string]any{"name": tool, "arguments": arguments}})
	answer := c.Answer()
	c.Answering(len(answer.Text) + len(answer.Notice) + 200)
	c.Written(t.Context())
	require.NoError(t, file.Close())
	var saved audit.Saved
	require.NoError(t, audit.Open([]string{path}, nil, func(files []*audit.Source) error {
		tr, err := audit.Verify(files, audit.Options{})
		if err != nil {
			return err
		}
		require.True(t, tr.Verdict().OK, tr.Verdict())
		sums, err := tr.Summarize(audit.Selection{}, nil)
		saved = sums.Stats.Saved
		return err
	}))
	return saved
}
