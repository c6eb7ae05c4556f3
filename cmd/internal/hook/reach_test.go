package hook

import (
	"fmt"
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
