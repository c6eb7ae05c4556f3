package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A session that cannot run a command gets no result cut that only a command would bring back. A file it reads again. A command
// that failed may be one that the client does not offer.
func TestWhatIsCutCanBeHadBack(t *testing.T) {
	var matches strings.Builder
	for i := range 900 {
		fmt.Fprintf(&matches, "src/file%d.go:%d:\tcall%d(request)\n", i/10, i, i)
	}
	matches.WriteString("src/ledger.go:12:func openLedger(path string)\n")
	grep := map[string]any{"mode": "content", "content": matches.String(), "numLines": 901, "filenames": []any{}}
	calls := map[string]struct {
		input    map[string]any
		response any
	}{
		"Read":         {map[string]any{"file_path": "/r/store.go"}, readResponse(source(), 1)},
		"Grep":         {map[string]any{"pattern": "request|Ledger", "output_mode": "content"}, grep},
		"mcp__ci__log": {map[string]any{}, []any{map[string]any{"type": "text", "text": matches.String()}}},
		"Bash":         {map[string]any{"command": "grep -rn request ."}, map[string]any{"stdout": matches.String(), "stderr": "", "interrupted": false}},
	}
	const command, again, own = " recover prn_", "read that range of the file again", "`mcp__pruner__read file_path prn_"
	for _, c := range []struct {
		before string
		failed bool
		tool   string
		way    string // "": the result stays
	}{
		{"Bash", false, "Read", command}, {"Bash", false, "Grep", command}, {"Bash", false, "mcp__ci__log", command},
		{"PowerShell", false, "Grep", command},
		{"Edit", false, "Read", again}, {"Edit", false, "Grep", ""}, {"Edit", false, "mcp__ci__log", ""}, {"Edit", false, "Bash", command},
		{"Bash", true, "Read", again}, {"Bash", true, "Grep", ""},
		{"mcp__pruner__read", false, "Read", own}, {"mcp__pruner__read", false, "Grep", own}, {"mcp__pruner__read", false, "mcp__ci__log", own},
		{"mcp__sandbox__bash", false, "Grep", ""},
	} {
		w := newWorld(t)
		w.env = append(w.env, "MCP_PRUNER_OTHER_TOOLS=ci")
		w.sayAfter("Let me look where the ledger is opened: openLedger.", c.before, c.failed)
		call := calls[c.tool]
		answer := w.hook([]string{"claude"}, w.message(c.tool, call.input, call.response))
		if c.way == "" {
			require.Empty(t, answer, "%v", c)
			continue
		}
		require.Contains(t, answer, c.way, "%v", c)
	}
}

// A sub-agent that has run no command yet can run one if its definition gives it the tool and the session around it has used that.
func TestASubAgentHasTheToolsOfItsDefinition(t *testing.T) {
	var matches strings.Builder
	for i := range 900 {
		fmt.Fprintf(&matches, "src/file%d.go:%d:\tcall%d(request)\n", i/10, i, i)
	}
	matches.WriteString("src/ledger.go:12:func openLedger(path string)\n")
	for _, c := range []struct {
		role, top string // what the definition says
		before    string // tool that the session used
		cut       bool
	}{
		{"looker", "tools: Read, Grep, Bash\n", "Bash", true},
		{"looker", "tools:\n  - Read\n  - Bash\n", "Bash", true},
		{"looker", "tools: Read, Bash\n", "Edit", false},
		{"looker", "tools: Read, Grep\n", "Bash", false},
		{"looker", "tools: Read, Bash(git log:*)\n", "Bash", false},
		{"looker", "", "Bash", true},
		{"looker", "disallowedTools: Bash\n", "Bash", false},
		{"Explore", "tools: Read\n", "Bash", true},
		{"unknown", "tools: Read, Bash\n", "Bash", false},
		{"", "tools: Read, Bash\n", "Bash", false},
	} {
		w := newWorld(t)
		w.sayAfter(question, c.before, false)
		folder := filepath.Join(w.state, "agents")
		require.NoError(t, os.MkdirAll(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "a.md"), []byte("---\nname: looker\ndescription: looks\n"+c.top+"---\nLook.\n"), 0o600))
		w.env = append(w.env, "CLAUDE_CONFIG_DIR="+w.state)
		m := w.message("Grep", map[string]any{"pattern": "request|Ledger", "output_mode": "content"},
			map[string]any{"mode": "content", "content": matches.String(), "numLines": 901, "filenames": []any{}})
		m["agent_id"], m["agent_transcript_path"] = "a1", filepath.Join(w.state, "agent-a1.jsonl")
		if c.role != "" {
			m["agent_type"] = c.role
		}
		line, err := json.Marshal(map[string]any{"type": "assistant", "isSidechain": true, "agentId": "a1", "message": map[string]any{"id": "m1", "content": []any{
			map[string]any{"type": "text", "text": question}, map[string]any{"type": "tool_use", "id": "t1", "name": "Grep", "input": map[string]any{}}}}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(w.state, "agent-a1.jsonl"), append(line, '\n'), 0o600))
		answer := w.hook([]string{"claude"}, m)
		require.Equal(t, c.cut, strings.Contains(answer, " recover prn_"), "%v: %.200s", c, answer)
	}
}
