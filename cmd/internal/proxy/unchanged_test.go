package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// rereads is a history in which a file is read, commands run, and the same lines are read again: the client says that they are
// unchanged.
func rereads(between, again int) []byte {
	var file strings.Builder
	for i := range 900 {
		fmt.Fprintf(&file, "%d\tfunc step%d() { beta(%d); gamma(%d) }\n", i+1, i, i, i)
	}
	fmt.Fprintf(&file, "901\tfunc flushQueue() { queue.Flush() }\n")
	m := []any{map[string]any{"role": "user", "content": "where is the queue flushed"}}
	call := func(tool string, input map[string]any, out string) {
		id := fmt.Sprintf("toolu_%d", len(m))
		m = append(m,
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": tool, "input": input}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": out}}})
	}
	read := map[string]any{"file_path": "/r/a.go"}
	call("Read", read, file.String())
	for i := range between {
		call("Bash", map[string]any{"command": fmt.Sprintf("run %d", i)}, output(i))
	}
	for range again {
		call("Read", read, "Wasted call — file unchanged since your last Read. Refer to that earlier tool_result instead.")
	}
	return ordered("model", "claude", "system", strings.Repeat("You are an agent. ", 2000), "tools",
		[]any{map[string]any{"name": "Read"}, map[string]any{"name": "Bash"}}, "messages", m)
}

// readsIn returns the results of reads in a request.
func readsIn(t *testing.T, body []byte) (texts []string) {
	t.Helper()
	var r struct {
		Messages []struct{ Content json.RawMessage }
	}
	require.NoError(t, json.Unmarshal(body, &r))
	last := "" // the tool that the latest call used
	for _, m := range r.Messages[1:] {
		var blocks []struct{ Type, Name, Content string }
		require.NoError(t, json.Unmarshal(m.Content, &blocks))
		if blocks[0].Type == "tool_use" {
			last = blocks[0].Name
		} else if last == "Read" {
			texts = append(texts, blocks[0].Content)
		}
	}
	return texts
}

// A client that answers a second Read of the same lines by words, that nothing has changed, does not know that the proxy cut or cleared
// the first one. The model gets the lines, once; the answer to a third Read is right.
func TestAnUnchangedFileIsShownWholeIfItsReadWasReplaced(t *testing.T) {
	whole := readsIn(t, rereads(0, 0))[0]
	for policy, between := range map[Policy]int{Prune: 2, GC: 60, Both: 60} {
		file := database(t)
		r := newRig(t, file, policy)
		var got []byte
		for n := range between + 1 {
			got = r.post(t, messagesPath, rereads(n, 0))
		}
		if policy != Prune { // what is cleared costs nothing where nothing is cached
			got = r.post(t, messagesPath, bytes.Replace(rereads(between, 0), []byte(`"claude"`), []byte(`"claude-2"`), 1))
		}
		require.NotEqual(t, whole, readsIn(t, got)[0], "%s: it was replaced", policy)
		sent := r.post(t, messagesPath, rereads(between, 1))
		assert.True(t, whole == readsIn(t, sent)[1], policy)
		assert.Equal(t, 1, strings.Count(string(sent), `501\tfunc step500()`), policy)
		third := r.post(t, messagesPath, rereads(between, 2))
		assert.True(t, whole == readsIn(t, third)[1], policy)
		assert.Contains(t, readsIn(t, third)[2], "Wasted call", "%s: the model has the lines", policy)
		assert.True(t, string(sent) == string(newRig(t, file, policy).post(t, messagesPath, rereads(between, 1))), "%s: after a restart", policy)
		assert.True(t, bytes.HasPrefix(third, sent[:len(sent)-len(`]}`)]), "%s: what was sent stays", policy)
	}
}

// Of a read that a hook cut, the header stands beside the result. The proxy does not cut it further, and the same read again comes whole.
func TestAReadThatAHookCutComesWholeAgain(t *testing.T) {
	read := func(id, out string, beside ...any) []any {
		return []any{
			map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Read", "input": map[string]any{"file_path": "/r/a.go"}}}},
			map[string]any{"role": "user", "content": append([]any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": out}}, beside...)},
		}
	}
	whole := readsIn(t, rereads(0, 0))[0]
	part := whole[:strings.Index(whole, "601\t")]
	note := existing.NoteFrame("Read", existing.Header(existing.Cut{Kept: make([]int, 600), Total: 901}, existing.ExampleWay))
	for name, c := range map[string]struct {
		beside []any
		stays  bool
	}{
		"cut by a hook": {[]any{map[string]any{"type": "text", "text": note}}, true},
		"whole":         {nil, false},
	} {
		r := newRig(t, database(t), Both)
		m := append([]any{map[string]any{"role": "user", "content": "where is the queue flushed"}}, read("t1", part, c.beside...)...)
		for _, again := range [][]any{nil, read("t2", whole)} {
			m = append(m, again...)
			body := ordered("model", "claude", "tools", []any{map[string]any{"name": "Read"}, map[string]any{"name": "Bash"}}, "messages", m)
			assert.Equal(t, c.stays, string(body) == string(r.post(t, messagesPath, body)), name)
		}
	}
}

// What was shown whole is left to the client's words.
func TestAnUnchangedFileThatIsWholeStays(t *testing.T) {
	r := newRig(t, database(t), GC)
	for n := range 3 {
		body := rereads(2, n)
		assert.Equal(t, string(body), string(r.post(t, messagesPath, body)))
	}
}
