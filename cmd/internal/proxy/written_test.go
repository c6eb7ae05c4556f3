package proxy

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// written is the text that the nth call writes into a file.
func written(n int) string {
	return strings.Repeat(fmt.Sprintf("line of the file of call %d, \"quoted\" <and> ünlike others\n", n), 60)
}

// writingHistory returns n calls that write a file each, after a thought.
func writingHistory(n int) []byte {
	m := []any{map[string]any{"role": "user", "content": "write the files"}}
	for i := range n {
		id := fmt.Sprintf("toolu_01A2b3C4d5E6f7G8h9%04d", i)
		m = append(m,
			map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
				map[string]any{"type": "tool_use", "id": id, "name": "Write", "input": map[string]any{"file_path": fmt.Sprintf("/r/%d.go", i), "content": written(i)}}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": "done"}}})
	}
	return ordered("model", "claude-opus-5", "system", strings.Repeat("You are an agent. ", 2000), "tools", claudeTools, "messages", m)
}

// Old arguments of calls that wrote files are cleared. The rest of the request stays, byte for byte; the way back prints the text;
// and the same history is the same bytes in another process.
func TestArgumentsOfEditsAreCleared(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	var sent [][]byte
	for n := range 50 {
		got := r.post(t, "/v1/messages", writingHistory(n))
		require.True(t, json.Valid(got))
		sent = append(sent, got)
	}
	last := string(sent[49])
	require.Greater(t, cleared(sent[49]), 15)
	assert.Equal(t, 49, strings.Count(last, `"file_path":"/r/`))
	assert.Equal(t, written(0), original(t, filesOf(r.engine), last))
	stub := regexp.MustCompile(`"\[cleared [^"]*"`)
	n := -1
	restored := stub.ReplaceAllFunc(sent[49], func([]byte) []byte {
		n++
		return encoded(written(n))
	})
	assert.Equal(t, string(writingHistory(49)), string(restored))
	again := newRig(t, file, GC)
	for n := range 50 {
		require.Equal(t, string(sent[n]), string(again.post(t, "/v1/messages", writingHistory(n))))
	}
}

// The ledger has the planner's words and the number of calls after which a clearing has paid, as the page shows them.
func TestTheLedgerKnowsWhy(t *testing.T) {
	file := database(t)
	r := newRig(t, file, GC)
	require.Contains(t, string(r.post(t, "/v1/messages", claudeHistory(40))), "[cleared ")
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(file))
	require.NoError(t, err)
	defer func() { _ = db.Close() }()
	var why string
	var pays int
	require.NoError(t, db.QueryRow(`SELECT why, pays FROM decisions`).Scan(&why, &pays))
	assert.Contains(t, why, fmt.Sprintf("to the cache again pays after %d call", pays))
	assert.Positive(t, pays)
}
