package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// A message is decoded as encoding/json decodes it, whatever is wrong with it.
func TestAMessageIsDecodedAsJSON(t *testing.T) {
	text := strings.Repeat(`a line\n`, 2048)
	for _, message := range []string{
		`{"a": "` + text + `", "b": ["` + text + `", 1, null, {"c": "` + text + `\\"}]}`,
		`{"a": "` + text + `\"\\\/\b\f\n\r\t\u001b\u00e9é\u20ac€", "b": "short\"", "c": "` + text + `\\\""}`,
		`{"a": "` + text + `\ud83d\ude00", "b": "\ud83d"}`,
		`{"a": "` + text + `\ud83d"}`,
		`{"a": "` + text + "\xff" + `"}`,
		`{"a": "` + text + "\x01" + `"}`,
		`{"a": "` + text + "\x1f12345678" + `"}`,
		`{"a": "` + text + "\x7f12345678" + `"}`,
		`{"a": "` + text + `\x"}`,
		`{"a": "` + text + `\u12"}`,
		`{"a": "` + text + `\u+123"}`,
		`{"a": "` + text + `\`,
		`{"a": "` + text,
		`{"a": "` + text + `"`,
		`{"a": "` + text + `"} x`,
		`{"a": ` + text + `"}`,
		`["` + text + `"]`,
		`"` + text + `"`,
		`{"` + text + `": 1}`,
		`{"a": "` + text + `", "a": "b"}`,
		`{"a": -1.5e3, "b": [0, 12345678901234567890], "c": {"d": true}}`,
		`{"a": "short"}`,
		``,
	} {
		var want agent.Message
		if json.Unmarshal([]byte(message), &want) != nil {
			want = nil
		}
		require.Equal(t, want, object([]byte(message)), "%.20s ... %s", message, message[max(len(message)-40, 0):])
	}
}
