package pruneclient

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDecodeAnswer compares decodeAnswer with encoding/json: accepted input is valid JSON, and
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
		text, err := decodeAnswer(body)
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
