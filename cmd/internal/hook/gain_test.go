package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

func gainVerb(w *world, args ...string) (int, string) {
	var stdout, stderr bytes.Buffer
	p := command.Process{Args: append([]string{"gain"}, args...), Env: []string{"XDG_STATE_HOME=" + w.state}, Stdout: &stdout, Stderr: &stderr}
	code := RunVerb(p)
	return code, stdout.String() + stderr.String()
}

func TestGainAddsUpWhatTranscriptsSay(t *testing.T) {
	w := newWorld(t)
	code, out := gainVerb(w)
	require.Equal(t, 1, code)
	require.Contains(t, out, "nothing has been cut or cleared yet")

	require.NotEmpty(t, w.hook([]string{"claude"}, w.message("Read", map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1))))
	f, err := os.OpenFile(w.transcript, os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	usage := func(read, write int) map[string]any {
		return map[string]any{"input_tokens": 0, "cache_creation_input_tokens": write, "cache_read_input_tokens": read, "output_tokens": 0}
	}
	enc := json.NewEncoder(f)
	for _, line := range []map[string]any{
		{"type": "assistant", "sessionId": "s", "message": map[string]any{"id": "m1", "usage": usage(0, 1000), "content": []any{map[string]any{"type": "tool_use", "id": "t1", "name": "Read", "input": map[string]any{"file_path": "/r/store.go"}}}}},
		{"type": "user", "sessionId": "s", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "t1", "content": "short"}}}},
		{"type": "assistant", "sessionId": "s", "message": map[string]any{"id": "m2", "usage": usage(1000, 500), "content": "good"}},
		{"type": "assistant", "sessionId": "s", "message": map[string]any{"id": "m3", "usage": usage(1500, 10), "content": "done"}},
	} {
		require.NoError(t, enc.Encode(line))
	}
	require.NoError(t, f.Close())

	code, out = gainVerb(w, "--json")
	require.Equal(t, 0, code, out)
	var g Gain
	require.NoError(t, json.Unmarshal([]byte(out), &g))
	require.Equal(t, 1, g.Total.Results)
	require.Zero(t, g.Unknown)
	require.InDelta(t, float64(g.Total.Tokens)*(1.25+0.1), g.Total.Gross, 1e-6, "written once and read once")
	require.Equal(t, g.Total.Net, g.Tools["Read"].Net)
	require.Len(t, g.Days, 1)
	code, out = gainVerb(w)
	require.Equal(t, 0, code)
	require.InDelta(t, 100*g.Total.Net/(g.Total.Bill+g.Total.Net), g.Total.Pct, 1e-6)
	require.Contains(t, out, "Net "+g.Total.Worth()+" in 1 session.\n1 result cut:")
	require.Contains(t, out, fmt.Sprintf("%+.1f %%", g.Total.Pct))
}

// A percentage is of the sessions whose results are counted in it, and of their bill without hooks: results without a
// transcript, and sessions without results, change nothing in it.
func TestGainIsAPercentageOfTheSessionsThatHadIt(t *testing.T) {
	one, other := filepath.Join(t.TempDir(), "one.jsonl"), filepath.Join(t.TempDir(), "other.jsonl")
	writeLines(t, one, story("short", 200))
	writeLines(t, other, story("short", 300_000))
	gain := func(list ...Note) (g Gain) {
		w := newWorld(t)
		for _, n := range list {
			AddNote(filepath.Join(w.state, "mcp-pruner"), n)
		}
		code, out := gainVerb(w, "--json")
		require.Equal(t, 0, code, out)
		require.NoError(t, json.Unmarshal([]byte(out), &g))
		return g
	}
	first := Note{ID: "prn_1", Call: "t1", Transcript: one, Tool: "Read", Tokens: 50_000, Sent: 100}
	alone := gain(first)
	require.Zero(t, alone.Unknown)
	require.Greater(t, alone.Total.Net, 10*alone.Total.Bill, "more was cut than all that remained cost")
	require.Greater(t, alone.Total.Pct, 90.0)
	require.Less(t, alone.Total.Pct, 100.0)

	with := gain(first,
		Note{ID: "prn_2", Call: "gone", Transcript: one, Tool: "Read", Tokens: 1_000_000},
		Note{ID: "prn_3", Call: "t1", Transcript: filepath.Join(t.TempDir(), "none"), Tool: "Read", Tokens: 1_000_000},
		Note{ID: "prn_4", Call: "gone", Transcript: other, Tool: "Read", Tokens: 1_000_000})
	require.Equal(t, 3, with.Unknown)
	require.Equal(t, 4, with.Total.Results)
	require.Equal(t, []float64{alone.Total.Known, alone.Total.Bill, alone.Total.Pct}, []float64{with.Total.Known, with.Total.Bill, with.Total.Pct})
}
