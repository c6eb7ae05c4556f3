package initcmd

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// Hooks on Windows, for a program whose path has a space and whose name is another.
func TestHooksOnWindows(t *testing.T) {
	h := home{Home: setup.Home{Lookup: func(string) (string, bool) { return t.TempDir(), true }}, system: "windows", path: `C:\Program Files\pruner.exe`}
	for client, want := range map[string]string{
		"claude": "'C:/Program Files/pruner.exe' hook claude",
		"gemini": "& 'C:/Program Files/pruner.exe' hook gemini --replace",
		"codex":  "mcp-pruner hook codex",
	} {
		h.onPath = client == "codex"
		all, err := h.pieces(client)
		require.NoError(t, err)
		foreign := []byte("{\r\n  \"a\": 1\r\n}\r\n")
		text, err := all[0].install(foreign)
		require.NoError(t, err)
		j, err := setup.ParseJSON(text)
		require.NoError(t, err)
		shown, err := json.Marshal(j.Get("hooks"))
		require.NoError(t, err)
		assert.Contains(t, string(shown), marshalled(t, want), client)
		assert.True(t, all[0].present(text))
		again, err := all[0].install(text)
		require.NoError(t, err)
		assert.Equal(t, string(text), string(again), "running it twice changes nothing")
		left, err := all[0].remove(text)
		require.NoError(t, err)
		assert.Equal(t, string(foreign), string(left))
	}
	h.onPath = false
	all, err := h.pieces("codex")
	require.NoError(t, err)
	_, err = all[0].install(nil)
	assert.EqualError(t, err, `codex runs hooks with cmd.exe, which cannot start C:\Program Files\pruner.exe: move it to a path of letters and digits, or put its folder on PATH`)
	_, err = all[1].install(nil)
	assert.NoError(t, err, "Codex starts a server without a shell")
}

func marshalled(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}
