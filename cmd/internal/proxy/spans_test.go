package proxy

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every value of a JSON text is found where it is, whether it is long enough for the index or not. Other
// texts are refused or split in some way, but never cause a panic.
func FuzzDocument(f *testing.F) {
	for _, api := range apis {
		f.Add(api.history(2))
	}
	for _, text := range []string{`{`, `[]`, ` {"a" : [1, {"b":"\\\"]}"}, null ] , "c":{}} `, `[[[`, `{"a"}`, `"\`, `}`, `[}]`, `tru`, `[1 2]`,
		`["a long text that is indexed, with a \\\" and a ] in it, and a second", {"and":"another long one, so that the object is indexed, too, \\"}]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		d, all, err := parse(body)
		if !json.Valid(body) {
			if err == nil {
				d.visit(all, func(span) {})
			}
			return
		}
		require.NoError(t, err)
		assert.Equal(t, string(bytes.TrimSpace(body)), string(all.of(body)))
		d.visit(all, func(v span) { require.True(t, json.Valid(v.of(body)), "%s", v.of(body)) })
		var elements []json.RawMessage
		if json.Unmarshal(body, &elements) != nil || elements == nil {
			return
		}
		var found []json.RawMessage
		require.NoError(t, d.items(all, func(v span) error { found = append(found, v.of(body)); return nil }))
		require.Len(t, found, len(elements))
		for i := range found {
			assert.Equal(t, string(elements[i]), string(found[i]))
		}
	})
}

// visit calls each for every value within a value. It stops where the text is not JSON.
func (d *document) visit(v span, each func(span)) {
	each(v)
	inner := func(v span) error { d.visit(v, each); return nil }
	if v.isArray(d.body) {
		_ = d.items(v, inner)
	} else if v.isObject(d.body) {
		_ = d.fields(v, func(_ []byte, v span) error { return inner(v) })
	}
}
