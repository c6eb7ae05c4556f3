package jsonspan

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzDecode compares Decode, Members and Elements with encoding/json.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"a":[1,-0.5e+07,1e999,true,false,null,"x"],"b":{"c":{}},"d":[]}`, ` [ { } , [ ] , "" ] `, `{"a":1,"a":{"b":2},"\u0061":3}`,
		`"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\ud800\ud800\udc00x\udfff"`, `"\ud800\u0041"`, `"\\\\\""`, "\"\xff\xfe\\n\xc3\"", `null`, `7`,
		`{"id":"\u0031", "params" : [ "]", {"}":"{\"" } ] ,"x":null}`, `{"a"}`, `{`, ``, `[1] 2`, `"\u12"`, "\"a\tb\"", `"\x"`, `01`, `-`, `1.`, `.5`, `1e`, `1e+5`, `-0`, `[1,]`, `{"a":1,}`, `{"a":1]`, `[}`, `tru`, `nullx`, `{1:2}`,
		strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want any
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		wrong := d.Decode(&want)
		if _, more := d.Token(); wrong == nil && more != io.EOF {
			wrong = assert.AnError
		}
		got, err := Decode(text)
		require.Equal(t, wrong == nil, err == nil, "%v, want %v", err, wrong)
		members, merr := Members(text)
		require.Equal(t, err, merr)
		elements, eerr := Elements(text)
		require.Equal(t, err, eerr)
		if wrong != nil {
			return
		}
		require.Equal(t, want, got)
		var floats any
		if json.Unmarshal(text, &floats) == nil { // no number exceeds the range
			got, err := DecodeFloats(text)
			require.NoError(t, err)
			require.Equal(t, floats, got)
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(text, &fields) != nil {
			fields = nil
		}
		require.Equal(t, fields, members)
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			list = nil
		}
		require.Equal(t, list, elements)
	})
}

// A long string is copied once.
func TestDecodeCopiesOnce(t *testing.T) {
	const size = 1 << 20
	for _, escape := range []string{"", `\n`} {
		text := []byte(`{"a":"` + strings.Repeat("x", size) + escape + `"}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Decode(text)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size*11/10), "%q", escape)
	}
}
