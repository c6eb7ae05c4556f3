package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

var texts = map[string]string{
	"empty object":          "{}\n",
	"one line":              `{"a": 1}` + "\n",
	"two members":           "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n",
	"tabs":                  "{\n\t\"a\": {\n\t\t\"b\": true\n\t}\n}\n",
	"four spaces, no end":   "{\n    \"a\": 1\n}",
	"comments":              "// head\n{\n  // about a\n  \"a\": 1, // why\n  /* b */ \"b\": 2 // last\n}\n// foot\n",
	"trailing commas":       "{\n  \"a\": 1,\n  \"hooks\": {\"PostToolUse\": [{\"x\": 1},],},\n}\n",
	"foreign hooks":         "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"command\": \"theirs\"}]} // keep\n    ],\n    \"Stop\": []\n  }\n}\n",
	"odd but valid":         "{ \"a\" :1 ,\n\n \"b\":2}\n",
	"windows line ends":     "{\r\n  \"a\": 1\r\n}\r\n",
	"member after the hook": "{\n  \"hooks\": {\"PostToolUse\": []},\n  \"z\": null\n}\n",
}

func ours(v any) bool {
	m, _ := v.(map[string]any)
	return m["command"] == "ours"
}

// TestAddAndRemoveIsTheSameText adds an element and a member and takes them out
// again.
func TestAddAndRemoveIsTheSameText(t *testing.T) {
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			j, err := ParseJSON([]byte(text))
			require.NoError(t, err)
			require.NoError(t, j.Append(map[string]any{"command": "ours"}, "hooks", "PostToolUse"))
			require.NoError(t, j.Set(map[string]any{"url": "x"}, "mcpServers", "pruner"))
			added := string(j.Bytes())
			require.NotEqual(t, text, added)

			again, err := ParseJSON([]byte(added))
			require.NoError(t, err, added)
			require.Equal(t, map[string]any{"url": "x"}, again.Get("mcpServers", "pruner"))
			require.True(t, again.Remove("mcpServers", "pruner"))
			require.Equal(t, 1, again.RemoveElements(ours, "hooks", "PostToolUse"))
			if name == "member after the hook" { // an empty list of the user's goes with our entry
				return
			}
			require.Equal(t, text, string(again.Bytes()), added)
		})
	}
}

func TestCommentsStayWithTheirLines(t *testing.T) {
	j, err := ParseJSON([]byte(texts["comments"]))
	require.NoError(t, err)
	require.NoError(t, j.Set(true, "ours"))
	require.Equal(t, "// head\n{\n  // about a\n  \"a\": 1, // why\n  /* b */ \"b\": 2, // last\n  \"ours\": true\n}\n// foot\n", string(j.Bytes()))
}

func TestSetRefusesWhatIsThere(t *testing.T) {
	j, err := ParseJSON([]byte(`{"a": 1}`))
	require.NoError(t, err)
	require.Error(t, j.Set(2, "a"))
	require.Error(t, j.Set(2, "a", "b"))
	require.Error(t, j.Append(2, "a"))
	_, err = ParseJSON([]byte("[1]"))
	require.Error(t, err)
	_, err = ParseJSON([]byte("{"))
	require.Error(t, err)
}

func install(text []byte) ([]byte, error) {
	j, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if j.Get("ours") != nil {
		return text, nil
	}
	err = j.Set(true, "ours")
	return j.Bytes(), err
}

func remove(text []byte) ([]byte, error) {
	j, err := ParseJSON(text)
	if err != nil {
		return nil, err
	}
	j.Remove("ours")
	return j.Bytes(), nil
}

func TestFileIsWhatItWas(t *testing.T) {
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			f := File{Path: filepath.Join(t.TempDir(), "settings.json")}
			require.NoError(t, os.WriteFile(f.Path, []byte(text), 0o640))
			changed, err := f.Install(install)
			require.NoError(t, err)
			require.True(t, changed)
			changed, err = f.Install(install)
			require.NoError(t, err)
			require.False(t, changed, "twice is once")
			changed, err = f.Uninstall(install, remove)
			require.NoError(t, err)
			require.True(t, changed)
			got, err := os.ReadFile(f.Path)
			require.NoError(t, err)
			require.Equal(t, text, string(got))
			left, err := filepath.Glob(f.Path + ".*")
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

func TestFileThatWasNotThereGoes(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "new", "settings.json")}
	_, err := f.Install(install)
	require.NoError(t, err)
	_, err = f.Uninstall(install, remove)
	require.NoError(t, err)
	require.NoFileExists(t, f.Path)
}

func TestWhatTheUserChangedSinceStays(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "settings.json")}
	require.NoError(t, os.WriteFile(f.Path, []byte("{\n  \"a\": 1\n}\n"), 0o600))
	_, err := f.Install(install)
	require.NoError(t, err)
	text, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	j, err := ParseJSON(text)
	require.NoError(t, err)
	require.NoError(t, j.Set("theirs", "later"))
	require.NoError(t, os.WriteFile(f.Path, j.Bytes(), 0o600))
	_, err = f.Uninstall(install, remove)
	require.NoError(t, err)
	got, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, "{\n  \"a\": 1,\n  \"later\": \"theirs\"\n}\n", string(got))
}

func TestBrokenFileIsLeftAlone(t *testing.T) {
	f := File{Path: filepath.Join(t.TempDir(), "settings.json")}
	require.NoError(t, os.WriteFile(f.Path, []byte("{broken"), 0o600))
	_, err := f.Install(install)
	require.Error(t, err)
	got, err := os.ReadFile(f.Path)
	require.NoError(t, err)
	require.Equal(t, "{broken", string(got))
}

// A file of nested brackets is refused, whatever reads it; it does not overflow the stack.
func TestNestedBracketsAreRefused(t *testing.T) {
	for _, depth := range []int{100_000, 5 << 20} {
		text := []byte(`{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}")
		for _, format := range []agent.Format{agent.StrictJSON, agent.HooksJSON, agent.CommentedJSON, agent.JSONC} {
			_, err := Syntax{Format: format}.Decode(text)
			require.Error(t, err)
		}
	}
	_, err := ParseJSON([]byte(strings.Repeat("[", 5<<20)))
	require.ErrorContains(t, err, "brackets")
}
