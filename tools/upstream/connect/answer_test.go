package connect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// TestAResultIsTakenApart takes results of every shape, also of those that MCP does not have.
func TestAResultIsTakenApart(t *testing.T) {
	for raw, want := range map[string]string{
		`null`: `"" []`, `{}`: `"" []`, `{"content":null,"_meta":null}`: `"" []`,
		`[]`: `is no result: json: cannot unmarshal array`, `7`: `is no result: json: cannot unmarshal number`, ``: `is no result: unexpected end`,
		`{"content":"x"}`: `is no result: json: cannot unmarshal string`, `{"content":[],"isError":"yes"}`: `is no result: json: cannot unmarshal string`,
		`{"content":[],"resultType":"input_required"}`:                                                                  `asks for input by a result`,
		`{"content":[{"type":"text","text":"\u00e9"},{"type":"image","data":"AA=="},{"text":"b", "type":"t\u0065xt"}]}`: `"é\nb" [{"type":"text","text":"\u00e9"} {"type":"image","data":"AA=="} {"text":"b", "type":"t\u0065xt"}]`,
		`{"content":[{"type":"text"},{"type":"text","text":null},{"type":"text","text":7},null,"x"]}`:                   `"\n" [{"type":"text"} {"type":"text","text":null} {"type":"text","text":7} null "x"]`,
		`{"task":{"taskId":"1"},"resultType":"complete"}`:                                                               `"" [] content= task={"taskId":"1"}`,
	} {
		a, err := passed(Config{Name: "bank"}, json.RawMessage(raw), "")
		if err != nil {
			assert.ErrorContains(t, err, want, raw)
			continue
		}
		got := fmt.Sprintf("%q %s", a.text, a.opaque.Content)
		for _, name := range slices.Sorted(maps.Keys(a.opaque.More)) {
			got += fmt.Sprintf(" %s=%s", name, a.opaque.More[name])
		}
		assert.Equal(t, want, got, raw)
	}
	small := json.RawMessage(`{"content":[{"type":"text","text":"hello"}]}`)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = passed(Config{}, small, "") }), 28.0, "22, and 26 with the race detector; 31 by way of two decoded copies")
}

// TestStructuredContentStaysUnlessItIsTheTextThatWasCut prunes results with and without structured content of their own.
func TestStructuredContentStaysUnlessItIsTheTextThatWasCut(t *testing.T) {
	for _, c := range []struct {
		name, text, structured string
		stays                  bool
	}{
		{"the same JSON", `{"items":[{"id":1,"price":1.50}],"next":null}`, `{"next":null,"items":[{"price":1.50,"id":1}]}`, false},
		{"the same with white space", "{\n  \"n\": 12345678901234567890\n}\n", `{"n":12345678901234567890}`, false},
		{"the only string", "a long log\nline 2", `{"result":"a long log\nline 2"}`, false},
		{"a number that a float cannot tell apart", `{"n":12345678901234567891}`, `{"n":12345678901234567890}`, true},
		{"one field more", `{"items":[1,2]}`, `{"items":[1,2],"total":200}`, true},
		{"a text that describes it", "2 items were found", `{"items":[1,2]}`, true},
		{"the text and more", "a log", `{"result":"a log","cursor":"x"}`, true},
		{"two values in the text", `{"a":1} {"a":1}`, `{"a":1}`, true},
		{"nothing", "a log", ``, false},
		{"what is no JSON", "{", `{`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			block, err := json.Marshal(map[string]string{"type": "text", "text": c.text})
			require.NoError(t, err)
			a := Answer{c.text, &tools.Opaque{Content: []json.RawMessage{block}, Structured: json.RawMessage(c.structured)}}
			whole, err := a.Prune(c.text)
			require.NoError(t, err)
			assert.Equal(t, c.structured, string(whole.(Answer).opaque.Structured), "beside a whole text it stays")
			cut, err := a.Prune("cut")
			require.NoError(t, err)
			noted := cut.(Answer).WithOriginal("prn_1").(Answer)
			for _, out := range []Answer{cut.(Answer), noted} {
				assert.Equal(t, c.stays, len(out.opaque.Structured) > 0)
			}
			assert.Len(t, noted.opaque.Content, 2)
			assert.Equal(t, c.structured, string(a.opaque.Structured), "the original is not changed")
			assert.Len(t, a.opaque.Content, 1)
		})
	}
}
