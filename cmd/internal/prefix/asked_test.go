package prefix

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

func TestWantedAgain(t *testing.T) {
	home := t.TempDir()
	lookup := func(name string) (string, bool) { return home, name == "HOME" }
	put := func(text string, path ...string) {
		file := filepath.Join(append([]string{home}, path...)...)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	put(`{"mcpServers": {"notes": {"command": "new"}, "maps": {"command": "maps"}}}`, ".claude.json")
	put(`{"type":"user","sessionId":"a","cwd":"/p","message":{"role":"user","content":"go on"}}
{"type":"assistant","sessionId":"a","cwd":"/p","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Workflow","input":{}}]}}
`, ".claude", "projects", "p", "a.jsonl")
	require.Empty(t, AskedAgain(t.Context(), lookup), "nothing is off")

	state, err := files.StateDir(lookup)
	require.NoError(t, err)
	target := ChangeTarget{File: setup.File{Path: filepath.Join(home, ".claude", "settings.json"), Syntax: setup.Syntax{Client: "Claude Code", Format: agent.StrictJSON}},
		Client: "claude", State: state, Now: time.Now().Add(-time.Hour)}
	off := func(kind, name, entry string) SwitchedOff {
		thing := agent.Thing{Kind: kind, Name: name}
		return SwitchedOff{Thing: thing, Switch: *agent.Claude.Prefix.Switch(thing), Entry: entry}
	}
	_, _, err = target.On([]SwitchedOff{off("tool", "Workflow", ""), off("tool", "ReportFindings", ""), off("server", "notes", "of the old entry"), off("server", "maps", "")})
	require.NoError(t, err)
	list := AskedAgain(t.Context(), lookup)
	require.Len(t, list, 2)
	require.Equal(t, `Workflow is switched off, and a session called it; "mcp-pruner context claude --undo" switches on again what is off`, list[0].String())
	require.Equal(t, `notes is switched off, and you installed it again; "mcp-pruner context claude --undo" switches on again what is off`, list[1].String())
}
