package hook

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the client says of a second Read only that nothing has changed, but a hook cut the first one, the model gets all its lines.
// It then has them, so that the third Read is answered by the client.
func TestAnUnchangedFileIsShownWholeIfItsReadWasCut(t *testing.T) {
	input := map[string]any{"file_path": "/r/store.go", "offset": 101, "limit": 700}
	const same = `{"name":"Read","input":{"file_path":"/r/store.go","offset":101,"limit":700}}`
	unchanged := map[string]any{"type": "file_unchanged", "file": map[string]any{"filePath": "/r/store.go"}}
	seeded := map[string]any{"type": "file_unchanged", "file": unchanged["file"], "source": "seeded"} // by the prompt
	for name, c := range map[string]struct {
		content  string // of the first Read
		between  string
		done     string // the result of that
		response map[string]any
		off      bool
		whole    bool
	}{
		"at once":               {source(), `{"name":"Grep","input":{"pattern":"x"}}`, "", unchanged, false, true},
		"after a command":       {source(), `{"name":"Bash","input":{"command":"./generate.sh"}}`, "", unchanged, false, true},
		"after another range":   {source(), `{"name":"Read","input":{"file_path":"/r/store.go","offset":5,"limit":9}}`, "", unchanged, false, true},
		"hooks are off by now":  {source(), `{"name":"Grep","input":{"pattern":"x"}}`, "", unchanged, true, true},
		"in the client's words": {source(), same, "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.", unchanged, false, true},
		"in earlier words":      {source(), same, "File unchanged since last read. The content", unchanged, false, true},
		"shown whole since":     {source(), same, "101\tpackage store", unchanged, false, false},
		"it was not cut":        {"package store\n", `{"name":"Grep","input":{"pattern":"x"}}`, "", unchanged, false, false},
		"part of the prompt":    {source(), `{"name":"Grep","input":{"pattern":"x"}}`, "", seeded, false, false},
	} {
		w := newWorld(t)
		w.hook([]string{"claude"}, w.message("Read", input, readResponse(c.content, 101)))
		w.saidThen(question, "Read", input, "a part", c.between)
		if c.done != "" {
			before, err := os.ReadFile(w.transcript)
			require.NoError(t, err)
			after := strings.Replace(string(before), `"content":"done"`, fmt.Sprintf(`"content":%q`, c.done), 1)
			require.NoError(t, os.WriteFile(w.transcript, []byte(after), 0o600))
		}
		if c.off {
			w.env = append(w.env, "MCP_PRUNER_HOOK=off")
		}
		m := w.message("Read", input, c.response)
		m["tool_use_id"] = "t3"
		answer := w.hook([]string{"claude"}, m)
		if !c.whole {
			require.Empty(t, answer, name)
			continue
		}
		require.Equal(t, map[string]any{"hookEventName": "PostToolUse", "updatedToolOutput": map[string]any{
			"type": "text", "file": map[string]any{"filePath": "/r/store.go", "content": c.content, "startLine": 101., "numLines": 732., "totalLines": 832.},
		}}, hookOutput(t, answer), name)
	}
}
