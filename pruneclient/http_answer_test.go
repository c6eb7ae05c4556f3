package pruneclient

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzDecodeAnswer compares the streaming decoder with encoding/json: accepted input is valid JSON, and
// both find the same text.
func FuzzDecodeAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"pruned_code":"a","token_scores":[["a",0.5],[]],"x":{"y":[{}]}}`,
		`{"content":"\ud83d\ude00\u0000","text":1}`, `{"pruned_code":"a","pruned_code":"b"}`,
		`{"a":{"b":1,"b":2},"text":""}`, `{"text":"a"}]`, `{"text":"a",}`, `{"text" "a"}`, `[[[[`, `nul`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		text, err := decodeAnswer(bytes.NewReader(body))
		if err != nil {
			return
		}
		require.True(t, json.Valid(body))
		var whole map[string]any
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&whole))
		for _, name := range answerFields {
			if want, ok := whole[name].(string); ok {
				require.Equal(t, want, text)
				return
			}
		}
		require.Fail(t, "a text out of nowhere")
	})
}

// The UTF-8 check does not depend on how the body is split into pieces.
func FuzzAnswerBodyUTF8(f *testing.F) {
	for _, seed := range []string{"", "aé漢😀", "\xff", "é\xc3", "\xf0\x9f\x98", "\xed\xa0\x80"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, b := range map[string]*answerBody{
			"at once":      {from: bytes.NewReader(body)},
			"byte by byte": {from: iotest.OneByteReader(bytes.NewReader(body))},
			"in halves":    {from: iotest.HalfReader(bytes.NewReader(body))},
		} {
			var got bytes.Buffer
			_, err := got.ReadFrom(b)
			require.NoError(t, err)
			assert.Equal(t, string(body), got.String())
			assert.Equal(t, !utf8.Valid(body), b.badUTF8(), name)
		}
	})
}
