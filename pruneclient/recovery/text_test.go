package recovery_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/pruneclient/recovery"
)

type ranges = []recovery.Range

func TestTextLines(t *testing.T) {
	const five = "a\nb\nc\nd\ne"
	for name, tc := range map[string]struct {
		text     string
		ranges   ranges
		numbered bool
		want     string
	}{
		"numbered":                {five, ranges{{1, 2}}, true, "1│ a\n2│ b"},
		"in order, overlaps":      {five, ranges{{3, 4}, {1, 3}}, true, "3│ c\n4│ d\n1│ a\n2│ b\n3│ c"},
		"clamped":                 {five, ranges{{4, 99}}, false, "d\ne"},
		"none":                    {five, ranges{}, true, ""},
		"none of nothing":         {"", ranges{}, false, ""},
		"everything":              {five, ranges{{1, 5}}, false, five},
		"everything, final \\n":   {"a\nb\n", ranges{{1, 9}}, false, "a\nb\n"},
		"numbered, final \\n":     {"a\nb\n", ranges{{1, 9}}, true, "1│ a\n2│ b"},
		"part, final \\n":         {"a\nb\n", ranges{{2, 2}}, false, "b"},
		"everything twice":        {"a\nb\n", ranges{{1, 2}, {1, 2}}, false, "a\nb\na\nb"},
		"carriage returns":        {"a\r\nb\r\nc", ranges{{1, 2}}, false, "a\r\nb\r"},
		"only \\n ends a line":    {"a\u2028b\u0085c\fd\re\nf", ranges{{2, 2}}, true, "2│ f"},
		"empty lines":             {"\n\na\n\n", ranges{{1, 4}}, true, "1│ \n2│ \n3│ a\n4│ "},
		"a lone newline":          {"\n", ranges{{1, 1}}, true, "1│ "},
		"invalid UTF-8 unchanged": {"\xff\n\xfe", ranges{{2, 2}}, false, "\xfe"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := recovery.NewText(tc.text).Lines(tc.ranges, tc.numbered)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestTextRefusesRanges(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		ranges  ranges
		bad     recovery.Range
		maxLine int // -1: not told
		message string
	}{
		"line 0":           {"a\nb", ranges{{0, 2}}, recovery.Range{Start: 0, End: 2}, -1, "invalid_range: 0-2"},
		"negative":         {"a\nb", ranges{{-1, 2}}, recovery.Range{Start: -1, End: 2}, -1, "invalid_range: -1-2"},
		"start behind end": {"a\nb", ranges{{2, 1}}, recovery.Range{Start: 2, End: 1}, -1, "invalid_range: 2-1"},
		"past the end":     {"a\nb", ranges{{3, 3}}, recovery.Range{Start: 3, End: 3}, 2, "invalid_range: line 3 is past the end (2)"},
		"nothing there":    {"", ranges{{1, 1}}, recovery.Range{Start: 1, End: 1}, 0, "invalid_range: line 1 is past the end (0)"},
		"one of several":   {"a\nb", ranges{{1, 1}, {9, 9}}, recovery.Range{Start: 9, End: 9}, 2, "invalid_range: line 9 is past the end (2)"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := recovery.NewText(tc.text).Lines(tc.ranges, false)
			var bad *recovery.BadRange
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, tc.bad, bad.Range)
			if tc.maxLine < 0 {
				assert.Nil(t, bad.MaxLine)
			} else if assert.NotNil(t, bad.MaxLine) {
				assert.Equal(t, tc.maxLine, *bad.MaxLine)
			}
			assert.EqualError(t, err, tc.message)
		})
	}
}

// Pages put one behind the other are what one large answer would have been.
func TestTextPages(t *testing.T) {
	text := recovery.NewText("a\n\nbb\n" + strings.Repeat("long ", 10) + "\nc\nd\ré\n")
	asked := ranges{{1, 3}, {3, 99}, {2, 2}}
	for _, numbered := range []bool{false, true} {
		whole, err := text.Lines(asked, numbered)
		require.NoError(t, err)
		for limit := 1; limit < len(whole)+2; limit++ {
			var pages []string
			for rest := asked; rest != nil; {
				page, next, err := text.Page(rest, numbered, limit)
				require.NoError(t, err)
				if len(page) > limit {
					require.NotContains(t, page, "\n", "only a line alone may be longer than a page")
				}
				pages, rest = append(pages, page), next
			}
			require.Equal(t, whole, strings.Join(pages, "\n"), "limit %d", limit)
		}
	}
}

func TestTextMatching(t *testing.T) {
	text := recovery.NewText("one fish\r\ntwo fish\nred [fish]\nblue\n")
	for name, tc := range map[string]struct {
		pattern string
		ranges  ranges
		want    string
		count   int
	}{
		"literal":           {regexp.QuoteMeta("[fish]"), nil, "3│ red [fish]", 1},
		"expression":        {`^t|blu`, nil, "2│ two fish\n4│ blue", 2},
		"within ranges":     {"fish", ranges{{2, 2}, {1, 1}}, "2│ two fish\n1│ one fish\r", 2},
		"end before the \r": {"fish$", nil, "1│ one fish\r\n2│ two fish", 2},
		"no match":          {"green", nil, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, count, rest, err := text.Matching(regexp.MustCompile(tc.pattern), tc.ranges, 0)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.count, count)
			assert.Nil(t, rest)
		})
	}

	page, count, rest, err := text.Matching(regexp.MustCompile("fish"), nil, 15)
	require.NoError(t, err)
	assert.Equal(t, "1│ one fish\r", page)
	assert.Equal(t, 1, count)
	assert.Equal(t, ranges{{2, 4}}, rest)
	_, _, _, err = text.Matching(regexp.MustCompile("x"), ranges{{9, 9}}, 0)
	assert.ErrorContains(t, err, "invalid_range")
	empty, _, _, err := recovery.NewText("").Matching(regexp.MustCompile(""), nil, 0)
	require.NoError(t, err)
	assert.Empty(t, empty)
}

func FuzzTextIsItsLines(f *testing.F) {
	for _, seed := range []string{"", "\n", "a", "a\nb\n", "\r\n\n", "é\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := recovery.NewText(s)
		var lines []string
		for n := 1; n <= text.Len(); n++ {
			lines = append(lines, text.Line(n))
		}
		want := s
		if len(lines) > 0 {
			want = strings.TrimSuffix(s, "\n")
			whole, err := text.Lines(ranges{{1, text.Len()}}, false)
			require.NoError(t, err)
			require.Equal(t, s, whole)
		}
		require.Equal(t, want, strings.Join(lines, "\n"))
	})
}
