package verbs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

const contextSession = `{"type":"user","sessionId":"a","cwd":"/p","message":{"role":"user","content":"go on"}}
{"type":"assistant","sessionId":"a","cwd":"/p","message":{"id":"m1","role":"assistant","model":"claude-opus","content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":100,"cache_creation_input_tokens":20000,"cache_read_input_tokens":0,"output_tokens":5}}}
`

// Beside our count stands the vendor's, where the newest session has one.
func TestTheVendorsCount(t *testing.T) {
	home := t.TempDir()
	o := contextOptions{Project: prefix.Project{Client: &agent.Claude, Folder: t.TempDir(), Lookup: func(name string) (string, bool) { return home, name == "HOME" }}}
	shown := func() (text, asJSON string) {
		r, err := o.report(t.Context(), contextSeen{prefix.Prefix{Tokens: 12000}, "2.1.329", true})
		require.NoError(t, err)
		var b, j bytes.Buffer
		require.NoError(t, r.writeText(&b))
		require.NoError(t, writeJSON(&j, r, false))
		return b.String(), j.String()
	}
	text, asJSON := shown()
	require.NotContains(t, text, "vendor")
	require.NotContains(t, asJSON, "first_call_tokens")

	projects := filepath.Join(home, ".claude", "projects", "p")
	require.NoError(t, os.MkdirAll(projects, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(projects, "a.jsonl"), []byte(contextSession), 0o600))
	text, asJSON = shown()
	require.Contains(t, text, "By the vendor's count, your newest session began with 20,100, your first words among them.\n")
	require.Contains(t, asJSON, `"first_call_tokens": 20100`)
}

// What was measured is kept for the page, without a text of the request.
func TestTheReportOfContextIsKept(t *testing.T) {
	state := t.TempDir()
	lookup := func(name string) (string, bool) { return state, name == "XDG_STATE_HOME" || name == "HOME" }
	o := contextOptions{Project: prefix.Project{Client: &agent.Claude, Folder: t.TempDir(), Lookup: lookup}}
	r, err := o.report(t.Context(), contextSeen{prefix.Prefix{Tokens: 12000, Parts: []prefix.Part{{Part: sessions.Part{Kind: sessions.ToolPart, Name: "Bash", Tokens: 12000}}}}, "2.1.329", true})
	require.NoError(t, err)
	require.NoError(t, r.keep(lookup))
	kept, err := os.ReadFile(files.PrefixReport(filepath.Join(state, "mcp-pruner"), "claude"))
	require.NoError(t, err)
	require.Contains(t, string(kept), `"name": "Bash"`)
	require.NoError(t, r.keep(func(string) (string, bool) { return "", false }), "without a state directory nothing is kept")
}
