package wire

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// past is a history as a client keeps it: of each step an id and texts.
type past []struct{ id, words, result string }

// written returns a history in the form of an API. The cache mark moves with the last message, as the clients' do.
func (p past) written(path string) []byte {
	messages := []any{map[string]any{"role": "user", "content": "go", "parts": []any{map[string]any{"text": "go"}}}}
	block := func(kind, text string) []any { return []any{map[string]any{"type": kind, "text": text}} }
	for i, s := range p {
		input := map[string]any{"command": s.words, "file_path": "a.go", "content": strings.Repeat(s.words, 300)}
		arguments, _ := json.Marshal(input)
		switch path {
		case "/v1/messages":
			result := map[string]any{"type": "tool_result", "tool_use_id": s.id, "content": block("text", s.result)}
			if i == len(p)-1 {
				result["cache_control"] = map[string]any{"type": "ephemeral", "ttl": "1h"}
			}
			messages = append(messages, map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "thinking", "thinking": "", "signature": "s" + s.words}, map[string]any{"type": "text", "text": s.words},
				map[string]any{"type": "tool_use", "id": s.id, "name": "Write", "input": input}}},
				map[string]any{"role": "user", "content": []any{result}})
		case "/v1/responses":
			messages = append(messages, map[string]any{"type": "additional_tools", "tools": block("function", s.words)},
				map[string]any{"role": "assistant", "content": block("output_text", s.words)},
				map[string]any{"type": "function_call", "call_id": s.id, "name": "shell", "arguments": string(arguments)},
				map[string]any{"type": "function_call_output", "call_id": s.id, "output": s.result})
		case "/v1/chat/completions":
			messages = append(messages, map[string]any{"role": "assistant", "content": s.words, "thinking_blocks": block("thinking", "x"), "tool_calls": []any{
				map[string]any{"id": s.id, "function": map[string]any{"name": "bash", "arguments": string(arguments)}}}},
				map[string]any{"role": "tool", "tool_call_id": s.id, "content": s.result}, map[string]any{"role": "user", "content": s.words})
		default:
			messages = append(messages, map[string]any{"role": "model", "parts": []any{map[string]any{"text": s.words}, map[string]any{"functionCall": map[string]any{"name": "bash", "args": input}}}},
				map[string]any{"role": "user", "parts": []any{map[string]any{"functionResponse": map[string]any{"name": "bash", "response": map[string]any{"output": s.result}}}}})
		}
	}
	name := map[string]string{"/v1/responses": "input", "/v1beta/models/m:generateContent": "contents"}[path]
	if name == "" {
		name = "messages"
	}
	list, _ := json.Marshal(messages)
	return fmt.Appendf(nil, `{"model":"m","%s":%s,"tools":[{"name":"x%d"}],"metadata":{"user_id":"session_0123456789"}}`, name, list, len(p))
}

// edited returns a history after an edit that a byte chooses.
func (p past) edited(edit, at byte) past {
	i := int(at) % max(1, len(p))
	next := slices.Clone(p)
	switch {
	case len(p) == 0 || edit%8 < 4: // the usual one
		n := len(p) + 256*int(edit)
		return append(next, past{{fmt.Sprintf("toolu_%06d", n*len(p)), fmt.Sprint("words ", at), fmt.Sprint("result \"", n, "\"")}}...)
	case edit%8 == 4: // one byte deep inside
		next[i].result = strings.Replace(next[i].result, "result", "resulT", 1)
	case edit%8 == 5: // a branch
		return next[:i]
	case edit%8 == 6: // a compaction
		return append(past{{"toolu_c", "summary", "kept"}}, next[i:]...)
	default: // an id again
		next[i].id = next[0].id
	}
	return next
}

// same checks that a request becomes the same conversation, whatever was parsed before.
func same(t *testing.T, m *Memory, k *Keyring, a *API, body []byte, owner, folder string) (continued bool) {
	t.Helper()
	want, wrong := a.Parse(body)
	got, err := m.Parse(a, body, nil)
	if wrong != nil {
		require.Error(t, err)
		return false
	}
	require.NoError(t, err)
	for _, c := range []*Conversation{want, got} {
		c.Owner = owner
		c.WorksIn(folder)
	}
	k.Identify(want)
	k.Identify(got)
	continued = got.keyed.whose != (Key{})
	require.Equal(t, want.Marks(), got.Marks())
	texts := slices.Repeat([]string{"less"}, len(want.Results))
	at := min(1, len(want.blocks)-1)
	require.Equal(t, string(want.ReplaceAndMark(texts, at).Body), string(got.ReplaceAndMark(texts, at).Body))
	got.known = known{}
	require.Equal(t, want, got)
	return continued
}

var paths = []string{"/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent"}

// FuzzMemory: two sessions grow in turns and are edited, under owners and folders that change. Each request becomes the same
// conversation as without a memory.
func FuzzMemory(f *testing.F) {
	f.Fuzz(func(t *testing.T, kind byte, edits []byte) {
		path := paths[int(kind)%len(paths)]
		m, k, sessions := new(Memory), new(Keyring), [2]past{}
		for i := 0; i+1 < min(len(edits), 120); i += 2 {
			s := &sessions[edits[i]>>4&1]
			*s = s.edited(edits[i], edits[i+1])
			owner, folder := "", "/a"
			if edits[i]>>6 == 3 {
				owner, folder = "ann", "/b"
			}
			body := s.written(path)
			if edits[i] == 0xff {
				body = body[:len(body)/2]
			}
			same(t, m, k, APIOf(path), body, owner, folder)
		}
	})
}

// A session that grows goes on from what was known of it, in each API; a request that differs in one byte, a cut one, and another
// API's do not.
func TestAGrowingSessionGoesOn(t *testing.T) {
	for _, path := range paths {
		m, k, p := new(Memory), new(Keyring), past{}
		for i := range 30 {
			p = p.edited(0, byte(i))
			continued := same(t, m, k, APIOf(path), p.written(path), "", "/a")
			assert.True(t, continued || i < 5, "%s: request %d", path, i)
		}
		require.Len(t, m.recent, 1, "one beginning of a session is kept")
		assert.Less(t, m.recent[0].bytes(), 200<<10)
		assert.True(t, same(t, m, k, APIOf(path), p.written(path), "", "/a"), "the same request again")
		assert.False(t, same(t, m, k, APIOf(path), p.edited(4, 3).written(path), "", "/a"), "one byte differs")
		assert.False(t, same(t, m, k, APIOf(path), p.written(path), "", "/b"), "its folder is another one")
		assert.False(t, same(t, m, k, APIOf(path), p.written(path), "ann", "/b"), "its owner is another one")
	}
	_, err := new(Memory).Parse(APIOf(paths[0]), []byte(`{"messages":[{"role":"user","content":1]}`), nil)
	require.Error(t, err)
}

// Requests of one session that come at once share what is known.
func TestRequestsAtOnceShareABeginning(t *testing.T) {
	m, k, p := new(Memory), new(Keyring), past{}
	for i := range 20 {
		p = p.edited(0, byte(i))
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() { same(t, m, k, APIOf(paths[n%2]), p.edited(byte(n), byte(n)).written(paths[n%2]), "", "/a") })
		}
		all.Wait()
	}
}

// Calls of one id take no more memory each, and with it time, the more there are: who sends millions must not occupy a proxy for hours.
func TestCallsOfOneID(t *testing.T) {
	for path, form := range map[string]string{
		paths[0]: `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":[%s]},{"role":"user","content":"go"}]}`,
		paths[3]: `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[%s]},{"role":"user","parts":[{"text":"go"}]}]}`,
	} {
		call := map[string]string{paths[0]: `{"type":"tool_use","id":"a","name":"b","input":{}}`, paths[3]: `{"functionCall":{"name":"b","args":{}}}`}[path]
		var took [2]uint64
		for i, calls := range []int{5_000, 20_000} {
			body := fmt.Appendf(nil, form, strings.Repeat(call+",", calls-1)+call)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := new(Memory).Parse(APIOf(path), body, nil)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			took[i] = after.TotalAlloc - before.TotalAlloc
		}
		assert.Less(t, took[1], 6*took[0], path)
	}
}

// What a Memory holds is bounded.
func TestAMemoryIsBounded(t *testing.T) {
	m, k := new(Memory), new(Keyring)
	for i := range maxHistories + 20 {
		p := past{}
		for range 5 {
			p = p.edited(0, byte(i))
			p[0].result = fmt.Sprint(i)
		}
		same(t, m, k, APIOf(paths[0]), p.written(paths[0]), "", "/a")
	}
	assert.Len(t, m.recent, maxHistories)
	total := 0
	for _, b := range m.recent {
		total += b.bytes()
	}
	assert.Equal(t, total, m.size)
	m.size = maxBeginnings
	same(t, m, k, APIOf(paths[0]), slices.Repeat(past{{"toolu_x", "w", "r"}}, 9).written(paths[0]), "", "/a")
	assert.Less(t, len(m.recent), maxHistories)
}
