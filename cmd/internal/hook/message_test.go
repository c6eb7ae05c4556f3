package hook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A message with long strings is decoded as encoding/json decodes it, whatever is wrong with it.
func TestLongStringsOfAMessage(t *testing.T) {
	text := strings.Repeat(`a line\n`, longString/8)
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
		`{"a": "` + text + `", "b": "` + placeholder + `0"}`,
		`{"a": "` + text + `", "b": "` + placeholder + `7"}`,
		`{"a": "short"}`,
		``,
	} {
		require.Equal(t, plainObject([]byte(message)), object([]byte(message)), "%.20s ... %s", message, message[max(len(message)-40, 0):])
	}
}

// An ordinary long message goes the short way.
func TestALongStringIsTakenOut(t *testing.T) {
	text := strings.Repeat(`a "line"\t`, longString)
	short, long, ok := withoutLong([]byte(`{"a": "` + strings.ReplaceAll(text, `"`, `\"`) + `", "b": "c"}`))
	require.True(t, ok)
	require.Equal(t, `{"a": "`+placeholder+`0", "b": "c"}`, string(short))
	require.Equal(t, []string{strings.ReplaceAll(text, `\t`, "\t")}, long)
}
