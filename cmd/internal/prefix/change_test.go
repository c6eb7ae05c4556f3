package prefix

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// oddFiles are settings files that users have, by what is odd about them.
var oddFiles = map[string]struct {
	client string
	text   string
}{
	"empty":                    {"claude", ""},
	"an empty object":          {"claude", "{}"},
	"one line":                 {"claude", `{"model": "opus", "permissions": {"allow": ["Bash(ls:*)"]}}` + "\n"},
	"tabs":                     {"claude", "{\n\t\"permissions\": {\n\t\t\"deny\": [\n\t\t\t\"WebFetch\"\n\t\t]\n\t}\n}\n"},
	"no newline at the end":    {"claude", "{\n    \"env\": {\"A\": \"b\"}\n}"},
	"windows line ends":        {"claude", "{\r\n  \"permissions\": {\r\n    \"deny\": []\r\n  }\r\n}\r\n"},
	"a byte that is no UTF-8":  {"claude", "{\n  \"x\": \"\xff\"\n}\n"},
	"equal names":              {"claude", `{"permissions": {"deny": ["A"]}, "permissions": {"deny": ["B"]}}` + "\n"},
	"escapes":                  {"claude", "{\"permissions\": {\"deny\": [\"\\u0041\"]}, \"a\\/b\": \"\\ud83d\\ude00\"}\n"},
	"odd spaces":               {"claude", "{ \"permissions\" :{ \"deny\":[ \"A\" ,\n\n\"B\"] },\n \"b\":2}\n\n\n"},
	"a large number":           {"claude", "{\"big\": 12345678901234567890, \"small\": 1e-400, \"zero\": -0}\n"},
	"comments":                 {"gemini", "// head\n{\n  // about tools\n  \"tools\": { /* none */ \"exclude\": [ /* yet */ ] } // why\n}\n// foot\n"},
	"a comment in an empty":    {"gemini", "{\n  // nothing so far\n}\n"},
	"comments and comma":       {"opencode", "{\n  \"permission\": {\n    \"bash\": \"ask\", // careful\n  },\n  /* last */\n}\n"},
	"trailing commas":          {"opencode", "{\"mcp\": {\"notes\": {\"type\": \"local\", \"command\": [\"n\",],},},}\n"},
	"a schema first":           {"opencode", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"agent\": {}\n}"},
	"no settings so far":       {"cline", ""},
	"Cline's settings":         {"cline", "{\n  \"autoUpdateEnabled\": false,\n  \"disabledTools\": [\n    \"editor\"\n  ]\n}\n"},
	"Qwen Code's settings":     {"qwen", "{\n  // mine\n  \"$version\": 4,\n  \"tools\": {\"disabled\": [\"glob\"]}\n}\n"},
	"TOML":                     {"codex", "model = \"gpt-6\"\n\n[features]\nhooks = true # ours\n\n[mcp_servers.notes]\ncommand = \"n\"\n"},
	"empty TOML":               {"codex", ""},
	"TOML with dots":           {"codex", "# mine\nfeatures.hooks = true\nmcp_servers.notes.command = \"n\"\n"},
	"TOML, windows line ends":  {"codex", "[mcp_servers.notes]\r\ncommand = \"n\"\r\n[features]\r\nhooks = true"},
	"TOML, no newline":         {"codex", "[mcp_servers.\"notes\"]\ncommand = \"n\""},
	"TOML with a list":         {"codex", "[[skills.config]]\npath = \"/x\"\nenabled = false\n\n[tui]\ntheme = \"a\"\n"},
	"TOML with a header in it": {"codex", "[mcp_servers.notes]\ncommand = \"n\"\nargs = [\"\"\"\n[features]\n\"\"\"]\n"},
}

// allSwitches are of each kind, as the client's switches name them.
func allSwitches(c *agent.Client) (list []SwitchedOff) {
	tool := map[string]string{"codex": "update_goal"}[c.Name]
	if tool == "" {
		tool = "Workflow"
	}
	for _, thing := range []agent.Thing{{Kind: "tool", Name: tool}, {Kind: "server", Name: "notes"}, {Kind: "skill", Name: "plot"}, {Kind: "agent", Name: "helper"}} {
		if s := c.Prefix.Switch(thing); s != nil {
			list = append(list, SwitchedOff{Thing: thing, Switch: *s})
		}
	}
	return list
}

func targetOf(t *testing.T, client, path string) ChangeTarget {
	t.Helper()
	c := agent.Named(client)
	as := map[agent.Place]agent.Format{agent.InHooks: c.Files.Hooks.As, agent.InServers: c.Files.Servers.As, agent.InSettings: c.Files.Settings.As}[c.Prefix.SwitchesIn]
	return ChangeTarget{File: setup.File{Path: path, Syntax: setup.Syntax{Client: c.Title, Format: as}}, Client: client, State: t.TempDir()}
}

func TestUndoIsExact(t *testing.T) {
	for name, file := range oddFiles {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "settings")
			require.NoError(t, os.WriteFile(path, []byte(file.text), 0o640))
			tg := targetOf(t, file.client, path)
			want := allSwitches(agent.Named(file.client))
			done, refused, err := tg.On(want)
			require.NoError(t, err)
			require.Empty(t, refused)
			require.Len(t, done, len(want))
			changed, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NotEqual(t, file.text, string(changed))

			_, refused, err = tg.On(want)
			require.NoError(t, err)
			require.Len(t, refused, len(want), "a second time there is nothing to do")

			undone, err := tg.Undo()
			require.NoError(t, err)
			require.True(t, undone.Exact)
			fileIs(t, path, file.text)
			require.Empty(t, ChangeNotes(tg.State))

			// Somebody edits the file in between.
			_, _, err = tg.On(want)
			require.NoError(t, err)
			edited := string(changed) + map[bool]string{true: "\n", false: " "}[file.client == "codex"]
			require.NoError(t, os.WriteFile(path, []byte(edited), 0o640))
			undone, err = tg.Undo()
			require.NoError(t, err)
			require.False(t, undone.Exact)
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			was, err := tg.Syntax.Decode([]byte(file.text))
			require.NoError(t, err)
			now, err := tg.Syntax.Decode(left)
			require.NoError(t, err, string(left))
			require.Equal(t, setup.Filled(was), setup.Filled(now))
			require.NotContains(t, string(left), "mcp-pruner")
		})
	}
}

func fileIs(t *testing.T, path, text string) {
	t.Helper()
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, text, string(now))
}

func TestAMissingFileIsRemovedAgain(t *testing.T) {
	dir := t.TempDir()
	tg := targetOf(t, "claude", filepath.Join(dir, "p", ".claude", "settings.local.json"))
	_, _, err := tg.On(allSwitches(&agent.Claude))
	require.NoError(t, err)
	require.FileExists(t, tg.Path)
	undone, err := tg.Undo()
	require.NoError(t, err)
	require.True(t, undone.Exact)
	require.NoDirExists(t, filepath.Join(dir, "p"))
}

func TestALinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.json")
	require.NoError(t, os.WriteFile(real, []byte("{}\n"), 0o600))
	link := filepath.Join(dir, "settings.json")
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	tg := targetOf(t, "claude", link)
	_, _, err := tg.On(allSwitches(&agent.Claude))
	require.NoError(t, err)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	_, err = tg.Undo()
	require.NoError(t, err)
	fileIs(t, real, "{}\n")
}

// TestFilesThatStay: a file that is read-only, broken or no file is not changed, and there is no note of it.
func TestFilesThatStay(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"read-only":     func(p string) error { return os.WriteFile(p, []byte("{}\n"), 0o400) },
		"broken":        func(p string) error { return os.WriteFile(p, []byte("{broken"), 0o600) },
		"a comment":     func(p string) error { return os.WriteFile(p, []byte("// Claude Code refuses this\n{}\n"), 0o600) },
		"a folder":      func(p string) error { return os.Mkdir(p, 0o700) },
		"a broken link": func(p string) error { return os.Symlink(filepath.Join(filepath.Dir(p), "none"), p) },
		"a list":        func(p string) error { return os.WriteFile(p, []byte("[]\n"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" {
				t.Skip("modes and links are those of Unix")
			}
			path := filepath.Join(t.TempDir(), "settings.json")
			require.NoError(t, make(path))
			before, _ := os.ReadFile(path)
			tg := targetOf(t, "claude", path)
			_, _, err := tg.On(allSwitches(&agent.Claude))
			require.Error(t, err)
			after, _ := os.ReadFile(path)
			require.Equal(t, before, after)
			require.Empty(t, ChangeNotes(tg.State))
		})
	}
}

// TestWhatTheUserDecidedStays: another value in the place of a switch is the user's.
func TestWhatTheUserDecidedStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "opencode.json")
	text := `{"permission": {"Workflow": "ask"}, "mcp": {"notes": {"enabled": true}}, "agent": "none"}`
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	tg := targetOf(t, "opencode", path)
	done, refused, err := tg.On(allSwitches(&agent.Opencode))
	require.NoError(t, err)
	require.Len(t, done, 1)
	require.Len(t, refused, 3)
	require.EqualError(t, refused[0].Why, `permission.Workflow is "ask" there already`)
	require.EqualError(t, refused[2].Why, `agent is "none" there already`)
	_, err = tg.Undo()
	require.NoError(t, err)
	fileIs(t, path, text)
}

// TestSomeGoBack: what had no effect is taken back, and the rest is undone exactly, later.
func TestSomeGoBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	text := "[features]\nhooks = true\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	tg := targetOf(t, "codex", path)
	done, _, err := tg.On(allSwitches(&agent.Codex))
	require.NoError(t, err)
	require.NoError(t, tg.Back(done[:1]))
	now, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(now), "goals")
	require.Contains(t, string(now), "plot")
	n, err := tg.Note()
	require.NoError(t, err)
	require.Len(t, n.Off, len(done)-1)
	undone, err := tg.Undo()
	require.NoError(t, err)
	require.True(t, undone.Exact)
	fileIs(t, path, text)

	done, _, err = tg.On(allSwitches(&agent.Codex))
	require.NoError(t, err)
	require.NoError(t, tg.Back(done))
	fileIs(t, path, text)
	require.Empty(t, ChangeNotes(tg.State))
}

func TestOnlyItsUserReadsTheNote(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are those of Unix")
	}
	path := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"env": {"KEY": "sk-secret"}}`), 0o600))
	tg := targetOf(t, "claude", path)
	_, _, err := tg.On(allSwitches(&agent.Claude))
	require.NoError(t, err)
	info, err := os.Stat(tg.notePath())
	require.NoError(t, err)
	require.Equal(t, "-rw-------", info.Mode().String())
	require.True(t, strings.HasPrefix(filepath.Base(tg.notePath()), "claude-"))
}
