package jsonspan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A text is a document if encoding/json accepts it, and every value is found where it is.
func FuzzDocument(f *testing.F) {
	for _, text := range []string{`{`, `[]`, ` {"a" : [1, {"b":"\\\"]}"}, null ] , "c":{}} `, `[[[`, `{"a"}`, `"\`, `}`, `[}]`, `tru`, `[1 2]`, `7`, ` "x" `,
		`["a long text with a \\\" and a ] in it, and a second", {"and":"another long one, \\"}]`,
		`{"system":"s","messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"out"}]}]}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, all, err := Parse(body)
		require.Equal(t, json.Valid(body), err == nil)
		if err != nil {
			return
		}
		assert.Equal(t, string(bytes.TrimSpace(body)), string(all.Of(body)))
		visit(d, all, func(v Span) { require.True(t, json.Valid(v.Of(body)), "%s", v.Of(body)) })
		var elements []json.RawMessage
		if json.Unmarshal(body, &elements) != nil || elements == nil {
			return
		}
		var found []json.RawMessage
		require.NoError(t, d.Items(all, func(v Span) error { found = append(found, v.Of(body)); return nil }))
		require.Len(t, found, len(elements))
		for i := range found {
			assert.Equal(t, string(elements[i]), string(found[i]))
		}
	})
}

// visit calls each for a value and every value within it.
func visit(d Document, v Span, each func(Span)) {
	each(v)
	inner := func(v Span) error { visit(d, v, each); return nil }
	if v.IsArray(d.Body) {
		_ = d.Items(v, inner)
	} else if v.IsObject(d.Body) {
		_ = d.Fields(v, func(_ []byte, v Span) error { return inner(v) })
	}
}

// Containers within each other are read down to the depth of encoding/json, so that no text overflows the stack.
func TestDepthIsLimited(t *testing.T) {
	nested := func(depth int) []byte { return []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)) }
	_, _, err := Parse(nested(maxDepth))
	require.NoError(t, err)
	for _, depth := range []int{maxDepth + 1, 5 << 20} {
		_, _, err = Parse(nested(depth))
		require.Error(t, err)
		require.Error(t, json.Unmarshal(nested(depth), new(any)))
	}
	_, _, err = Parse([]byte("[" + strings.Repeat("1,", maxInside) + "1]"))
	require.Error(t, err, "too many values")
}

// Half a surrogate pair, and bytes that are not UTF-8, are the same after decoding and encoding.
func TestTextsThatAreNoUnicodeStayExact(t *testing.T) {
	for raw, text := range map[string]string{
		`a\ud800b`: "a\xed\xa0\x80b", `\udfff`: "\xed\xbf\xbf", `\ud83d\ude00`: "\U0001f600", `\ude00\ud83d`: "\xed\xb8\x80\xed\xa0\xbd",
		`\ud800\ud83d\ude00`: "\xed\xa0\x80\U0001f600", `\\ud800`: `\ud800`, "\\n\xff": "\n\xff", `\u00e9\/\"\t`: "\u00e9/\"\t", `\ud800\n`: "\xed\xa0\x80\n",
		"\ufffd\xff<&": "\ufffd\xff<&",
	} {
		for _, body := range [][]byte{[]byte(`"` + raw + `"`), Quote(text)} {
			_, all, err := Parse(body)
			require.NoError(t, err)
			assert.Equal(t, text, all.Text(body), raw)
		}
	}
}

// Values are found wherever encoding/json finds some, and only there.
func TestValuesAgreeWithEncodingJSON(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"a":1}`, "[1,\t-2.5e+3,\r\ntrue,false,null]", `{"a":{"b":[{"c":"d"}]}}`, `["\"","\\"]`, `[[[[]]]]`,
		`{`, `[`, `{"a"}`, `{"a":}`, `{a:1}`, `{"a":1,}`, `[1,]`, `[,1]`, `[1 2]`, `["a]`, "[\"a\nb\"]", `{]`, `[}`, `[nul]`, `[--1]`, `[01]`, "[\"a\tb\"]", `["\x"]`, `{"a":1]`, `{1:2}`,
	} {
		root := false
		for _, v := range Find([]byte(text)) {
			root = root || v.Start == 0 && int(v.End) == len(text)
		}
		assert.Equal(t, json.Valid([]byte(text)), root, text)
	}
}

// Long and deep texts with mistakes take linear time and no stack.
func TestMistakesAreBounded(t *testing.T) {
	const n = 1 << 19
	for _, text := range []string{
		strings.Repeat("[", n), strings.Repeat("{", n), strings.Repeat(`{"a":`, n), strings.Repeat(`[{"a":"`, n), strings.Repeat("[1,", n),
		strings.Repeat("[", n) + strings.Repeat("]", n-1),
	} {
		Find([]byte(text))
	}
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	require.Len(t, Find([]byte(deep)), maxDepth)
	require.Len(t, Find([]byte("["+deep+"]")), maxDepth, "the outermost one is skipped")
	require.Nil(t, Find([]byte("["+strings.Repeat("1,", 2<<20)+"1]")), "too many values")
}
