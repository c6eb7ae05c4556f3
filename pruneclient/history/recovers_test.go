package history

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// However the way back is written, the call is known to lead back, so that its result is never cut.
func TestRecovers(t *testing.T) {
	for _, command := range []string{
		"mcp-pruner recover prn_3ddf8b97",
		"mcp-pruner recover prn_3ddf8b97 --lines 1-211",
		"mcp-pruner recover --pattern 'a b' prn_3ddf8b97",
		"/home/me/.local/state/mcp-pruner/bin/mcp-pruner recover prn_3ddf8b97",
		`"/opt/my bin/mcp-pruner" recover prn_3ddf8b97`,
		"'mcp-pruner' recover 'prn_3ddf8b97'",
		"cd /repo && mcp-pruner recover prn_3ddf8b97",
		"mcp-pruner recover prn_3ddf8b97 | head -50",
		"true | mcp-pruner recover prn_3ddf8b97 2>&1 | cat -n",
		"sudo mcp-pruner recover prn_3ddf8b97",
		"env A=b mcp-pruner recover prn_3ddf8b97",
		`bash -c "mcp-pruner recover prn_3ddf8b97"`,
		`bash -lc '"/opt/mcp-pruner" recover prn_3ddf8b97'`,
		`sh -c "\"/opt/mcp-pruner\" recover prn_3ddf8b97"`,
		"timeout 10 nice mcp-pruner recover prn_3ddf8b97; echo $?",
		"mcp-pruner recover prn_3ddf8b97 && go test ./...",
		`ID=prn_3ddf8b97; mcp-pruner recover "$ID"`,
		"echo prn_3ddf8b97 | xargs mcp-pruner recover",
		"for id in prn_3ddf8b97 prn_00000000; do mcp-pruner recover $id; done",
		`& 'C:\Program Files\mcp-pruner.exe' recover prn_3ddf8b97`,
		"npx mcp-pruner recover prn_3ddf8b97",
		"/tmp/build/pruner recover prn_3ddf8b97",
		"mcp-pruner gc get s12",
		"mcp-pruner gc --store /tmp/l.sqlite get prn_3ddf8b97 --start-line 3",
		"mcp-pruner \\\n  recover prn_3ddf8b97",
	} {
		assert.True(t, ParseCall("Bash", map[string]any{"command": command}).Recovers, command)
		assert.True(t, ParseCall("exec_command", map[string]any{"cmd": command}).Recovers, command)
		assert.True(t, ParseCall("shell", map[string]any{"command": []any{"bash", "-lc", command}}).Recovers, command)
		assert.True(t, ParseCall("ci__run", map[string]any{"script": command}).Recovers, command)
	}
	for _, command := range []string{
		"", "go test ./...", "go test -run TestRecover ./...", "grep -rn 'mcp-pruner recover' docs", "mcp-pruner gc stats", "mcp-pruner --help",
		"cat prn_3ddf8b97.txt", "git log --grep recover", "psql -c 'recover; prn'",
	} {
		assert.False(t, ParseCall("Bash", map[string]any{"command": command}).Recovers, command)
	}
	for tool, args := range map[string]map[string]any{
		"mcp__ctx__read":         {"file_path": "prn_3ddf8b97"},
		"read":                   {"file_path": "prn_3ddf8b97", "context_focus_question": "what?"},
		"ctx_recover_text":       {"prune_id": "prn_3ddf8b97"},
		"team__context_get":      {"segment_id": "s12"},
		"mcp__any__context_get":  {},
		"mcp_ctx_recover_text":   {"ranges": []any{}},
		"something-else-by-name": {"id": "prn_3ddf8b97"},
	} {
		assert.True(t, ParseCall(tool, args).Recovers, tool)
	}
	for tool, args := range map[string]map[string]any{
		"Read":  {"file_path": "/r/prn_3ddf8b97"},
		"Grep":  {"pattern": "mcp-pruner recover prn_3ddf8b97"},
		"Edit":  {"file_path": "/r/a", "new_string": "mcp-pruner recover prn_3ddf8b97"},
		"Write": {"file_path": "prn_3ddf8b97", "content": "mcp-pruner recover prn_3ddf8b97"},
		"ask":   {"text": "mcp-pruner recover prn_3ddf8b97"},
	} {
		assert.False(t, ParseCall(tool, args).Recovers, tool)
	}
	var log Log
	why := log.Decide(ParseCall("Bash", map[string]any{"command": "mcp-pruner recover prn_3ddf8b97"}), 5000, nil).Why
	assert.Equal(t, "brought back by its id", why)
}
