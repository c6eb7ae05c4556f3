package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// markedIn returns the texts or ids of the blocks of a request that carry a mark, with its lifetime.
func markedIn(t *testing.T, body []byte) (marked []string) {
	t.Helper()
	var r struct {
		Messages []struct{ Content any }
	}
	require.NoError(t, json.Unmarshal(body, &r))
	for _, m := range r.Messages {
		blocks, _ := m.Content.([]any)
		for _, b := range blocks {
			b := b.(map[string]any)
			if mark, ok := b["cache_control"].(map[string]any); ok {
				marked = append(marked, strings.TrimSpace(fmt.Sprintf("%v %v %v", b["type"], cmp.Or(b["id"], b["tool_use_id"]), mark["ttl"])))
			}
		}
	}
	return marked
}

// Where one of four marks is free, it stands before the oldest result that may go once, for as long as the mark that follows. Thinking can
// carry none. The request that clears has it where the one before had it.
func TestOurMarkStandsBeforeWhatMayGo(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	var sent []byte
	for n := 2; n <= 30; n++ {
		before := cleared(sent)
		body := claudeHistory(n)
		sent = r.post(t, messagesPath, body)
		if marked := markedIn(t, sent); assert.Len(t, marked, 2, "the client's and ours") && before == 0 && n > 2 {
			assert.Equal(t, "tool_use toolu_0 <nil>", marked[0], "%d results", n)
		}
		assert.Equal(t, string(sent), string(newRig(t, file, GC).post(t, messagesPath, body)), "another proxy")
	}
	require.Positive(t, cleared(sent))
	hour := bytes.ReplaceAll(claudeHistory(30), []byte(`"cache_control":{"type":"ephemeral"}`), []byte(`"cache_control":{"type":"ephemeral","ttl":"1h"}`))
	assert.Regexp(t, "1h$", markedIn(t, newRig(t, database(t), GC).post(t, messagesPath, hour))[0])

	assert.Len(t, markedIn(t, newRig(t, database(t), GC).post(t, messagesPath, full(claudeHistory(30)))), 1, "no fifth mark")
	none := bytes.ReplaceAll(claudeHistory(30), []byte(`"cache_control":{"type":"ephemeral"},`), nil)
	assert.Empty(t, markedIn(t, newRig(t, database(t), GC).post(t, messagesPath, none)), "a request without a cache")
	other := bytes.Replace(claudeHistory(30), []byte(`"claude-opus-5"`), []byte(`"glm-5"`), 1)
	assert.Len(t, markedIn(t, newRig(t, database(t), GC).post(t, messagesPath, other)), 1, "another company's API")
}

// A request that appends many blocks has our mark at the end of the one before, from which the cache reads. If the usage shows that it
// does not, our mark ends for the session, at every proxy.
func TestOurMarkStandsAtTheEndOfTheRequestBefore(t *testing.T) {
	parallel := func(n int) []byte {
		var uses, results []any
		for i := range n {
			id := fmt.Sprintf("toolu_wide%d", i)
			uses = append(uses, map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprintf("run %d", i)}})
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": id, "content": "done"})
		}
		results[n-1].(map[string]any)["cache_control"] = map[string]any{"type": "ephemeral"}
		before := strings.TrimSuffix(strings.Replace(string(claudeHistory(3)), `"cache_control":{"type":"ephemeral"},"content"`, `"content"`, 1), "]}")
		return []byte(before + "," + string(encoded(map[string]any{"role": "assistant", "content": uses})) + "," + string(encoded(map[string]any{"role": "user", "content": results})) + "]}")
	}
	file := database(t)
	r := newRig(t, file, GC)
	r.post(t, messagesPath, claudeHistory(3))
	assert.Equal(t, "tool_result toolu_2 <nil>", markedIn(t, r.post(t, messagesPath, parallel(8)))[0])
	assert.Equal(t, "tool_use toolu_0 <nil>", markedIn(t, newRig(t, database(t), GC).post(t, messagesPath, parallel(7)))[0], "so few are found")

	r.up.answer = func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"usage":{"input_tokens":10,"cache_read_input_tokens":900,"cache_creation_input_tokens":99000,"output_tokens":1}}`))
	}
	r.post(t, messagesPath, parallel(30))
	r.proxy.Close()
	assert.Contains(t, r.logged(), "proxy.unmarked")
	again := newRig(t, file, GC)
	again.advance(time.Minute)
	assert.Len(t, markedIn(t, again.post(t, messagesPath, parallel(31))), 1)
}
