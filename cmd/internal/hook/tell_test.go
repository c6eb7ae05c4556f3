package hook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// TestTold: at the end of a turn the user is told what was cut, once for each news, and not if the setting is off.
func TestTold(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	dir := filepath.Join(home, "mcp-pruner")
	require.NoError(t, os.Mkdir(filepath.Join(project, ".git"), 0o700))
	setting := ""
	told := func(c *agent.Client, message string) string {
		t.Helper()
		var out bytes.Buffer
		Run(t.Context(), c, Tools{}, func(name string) (string, bool) {
			v := map[string]string{"XDG_STATE_HOME": home, "HOME": home, "MCP_PRUNER_TELL": setting}[name]
			return v, v != ""
		}, strings.NewReader(message), &out)
		return out.String()
	}
	stop := `{"hook_event_name":"Stop","session_id":"s","cwd":"` + filepath.ToSlash(project) + `"}`
	require.Empty(t, told(&agent.Claude, stop), "nothing was cut")
	notes.Add(dir, notes.Note{Client: "claude", Session: "s", ID: "prn_00000001", Tokens: 9000, Sent: 400})
	setting = "off"
	require.Empty(t, told(&agent.Claude, stop))
	setting = ""
	require.NoError(t, os.WriteFile(filepath.Join(project, ProjectFile), []byte("MCP_PRUNER_TELL=off\n"), 0o600))
	require.Empty(t, told(&agent.Claude, stop))
	require.NoError(t, os.Remove(filepath.Join(project, ProjectFile)))
	require.Equal(t, `{"systemMessage":"mcp-pruner: 1 result cut, 8.6k tokens less"}`, told(&agent.Claude, stop))
	require.Empty(t, told(&agent.Claude, stop), "it was told")
	notes.Add(dir, notes.Note{ID: "prn_00000001", Back: true, Sent: 700})
	require.Equal(t, `{"systemMessage":"mcp-pruner: 1 result cut, 8.6k tokens less, 1 brought back (700), net 7.9k"}`, told(&agent.Claude, stop))
	for _, session := range []string{"", "other", "../s"} {
		require.Empty(t, told(&agent.Claude, `{"hook_event_name":"Stop","session_id":"`+session+`"}`), session)
	}
	notes.Add(dir, notes.Note{Client: "opencode", Session: "ses_1", ID: "prn_00000002", Tokens: 2000, Sent: 1000})
	require.Equal(t, `{"message":"mcp-pruner: 1 result cut, 1.0k tokens less"}`, told(&agent.Opencode, `{"event":"idle","sessionID":"ses_1"}`))
}
