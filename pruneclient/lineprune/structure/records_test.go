package structure

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecords(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"array":              {`[{"id":1}, {"id":2,"tags":[{"a":1},{"b":2}]}]`, []string{`{"id":1}`, `{"id":2,"tags":[{"a":1},{"b":2}]}`}},
		"wrapped":            {`{"total":2,"data":{"items":[{"id":1},{"id":2}]}}`, []string{`{"id":1}`, `{"id":2}`}},
		"wrapped once more":  {`[{"items":[{"id":1},{"id":2}]}]`, []string{`{"id":1}`, `{"id":2}`}},
		"two lists":          {`{"nodes":[[1],[2]],"tags":["x","y"],"edges":[{"f":1},{"f":2}]}`, []string{`[1]`, `[2]`, `{"f":1}`, `{"f":2}`}},
		"members":            {`{"a":{"x":1},"b" : {"x":2},"c":{}}`, []string{`"a":{"x":1}`, `"b" : {"x":2}`, `"c":{}`}},
		"both kinds of list": {`x {"items": [{"id":1},{"id":2}], "by": {"a":{},"b":{},"c":{}}}`, []string{`{"id":1}`, `{"id":2}`, `"a":{}`, `"b":{}`, `"c":{}`}},
		"one member is most": {`{"a":{},"b":{},"c":{"items":[{"id":1},{"id":2}]}}`, []string{`{"id":1}`, `{"id":2}`}},
		"strings":            {`{"files":["a.go","b.go"]}`, []string{`"a.go"`, `"b.go"`}},
		"sentence":           {`Found 2 [of 9] issues: [{"id":1},{"id":2}]. More: page 2 {or so}`, []string{`{"id":1}`, `{"id":2}`}},
		"event":              {`data: {"items":[{"id":1},{"id":2}]}`, []string{`{"id":1}`, `{"id":2}`}},
		"brackets in texts":  {`[{"t":"]},{\"[\\"},{"t":"\u007b"}]`, []string{`{"t":"]},{\"[\\"}`, `{"t":"\u007b"}`}},
		"one object":         {`{"id":1,"name":"x"}`, nil},
		"cut off":            {`[{"id":1},{"id":2},{"i`, nil},
		"no JSON":            {"if (a[0]) { return }", nil},
		"empty":              {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range Records(c.text) {
				got = append(got, c.text[r.Start:r.End])
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// random returns a random JSON value.
func random(r *rand.Rand, depth int) any {
	switch n := r.Intn(8); {
	case n < 2 && depth > 0:
		list := make([]any, r.Intn(5))
		for i := range list {
			list[i] = random(r, depth-1)
		}
		return list
	case n < 5 && depth > 0:
		object := map[string]any{}
		for range r.Intn(5) {
			object[[]string{"id", "a{", "b\"", "c]", "é"}[r.Intn(5)]] = random(r, depth-1)
		}
		return object
	case n < 6:
		return []string{"", "]", "},{", "\\\"", "\n", "été"}[r.Intn(6)]
	}
	return []any{nil, true, 1.5e300, -7}[r.Intn(4)]
}

// Every record is valid JSON, with its key a member of an object, and lies after the record before it.
func TestRecordsAreJSON(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	records := 0
	for range 2000 {
		raw, err := json.MarshalIndent(random(r, 5), "", strings.Repeat(" ", r.Intn(3)))
		require.NoError(t, err)
		text := []string{"", "issues [2]: ", "data: "}[r.Intn(3)] + string(raw) + []string{"", "\n", " and } more"}[r.Intn(3)]
		at := 0
		for _, rec := range Records(text) {
			records++
			require.LessOrEqual(t, at, rec.Start)
			at = rec.End
			part := text[rec.Start:rec.End]
			require.True(t, json.Valid([]byte(part)) || json.Valid([]byte("{"+part+"}")), part)
		}
	}
	require.Greater(t, records, 200)
}

func FuzzRecords(f *testing.F) {
	f.Add(`x [{"id":1},{"id":[2]}] {"a":{},"b":{},"c":{}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range Records(text) {
			require.True(t, 0 <= r.Start && r.Start < r.End && r.End <= len(text))
		}
	})
}

func BenchmarkRecords(b *testing.B) {
	text := "[" + strings.Repeat(`{"id":12345,"title":"the queue is empty","state":"open","labels":["bug"]},`, 20_000) + "{}]"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Records(text)
	}
}
