package recovery_test

import (
	"context"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
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
			got, _, err := recovery.NewText(tc.text).Page(tc.ranges, tc.numbered, 0)
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
			_, _, err := recovery.NewText(tc.text).Page(tc.ranges, false, 0)
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
		whole, _, err := text.Page(asked, numbered, 0)
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

// The whole original comes back to its last byte, in however many pages; the last of
// several says whether a newline ends it.
func TestTextPagesAreTheOriginal(t *testing.T) {
	for _, original := range []string{"a\n\nbb\nc\n", "a\n\nbb\nc", "one\n", "\n", "\n\n", "a\r\nb\r\n"} {
		text := recovery.NewText(original)
		for limit := 1; limit < len(original)+2; limit++ {
			for _, end := range []int{text.Len(), text.Len() + 1, math.MaxInt} {
				var pages []string
				cut := ""
				for rest := (ranges{{1, end}}); rest != nil; {
					page, next, err := text.Page(rest, false, limit)
					require.NoError(t, err)
					if next == nil && text.CutsNewline(rest) {
						cut = "\n"
					}
					pages, rest = append(pages, page), next
				}
				require.Equal(t, original, strings.Join(pages, "\n")+cut, "limit %d", limit)
			}
		}
	}
}

// Where the last newline is left out, that is said.
func TestTextCutsNewline(t *testing.T) {
	for name, tc := range map[string]struct {
		text   string
		ranges ranges
		want   bool
	}{
		"everything":       {"a\nb\n", ranges{{1, 2}}, false},
		"the last line":    {"a\nb\n", ranges{{2, 2}}, true},
		"and beyond":       {"a\nb\n", ranges{{2, 3}}, true},
		"another line":     {"a\nb\n", ranges{{1, 1}}, false},
		"everything twice": {"a\nb\n", ranges{{1, 2}, {1, 2}}, true},
		"there is none":    {"a\nb", ranges{{2, 2}}, false},
		"nothing":          {"a\n", nil, false},
	} {
		assert.Equal(t, tc.want, recovery.NewText(tc.text).CutsNewline(tc.ranges), name)
	}
}

// Size tells the size of an answer before any of it is there.
func TestTextSize(t *testing.T) {
	text := recovery.NewText(strings.Repeat("a\n\nbé\r\n", 40) + "end")
	for _, asked := range []ranges{{{1, 1}}, {{1, 121}}, {{1, 999}}, {{5, 9}, {2, 120}, {2, 120}}, {{9, 11}, {99, 101}}} {
		for _, numbered := range []bool{false, true} {
			lines, _, err := text.Page(asked, numbered, 0)
			require.NoError(t, err)
			size, err := text.Size(asked, numbered)
			require.NoError(t, err)
			require.Equal(t, len(lines)+1, size, "%v: its lines and a newline behind each", asked)
		}
	}
	_, err := text.Size(ranges{{0, 1}}, false)
	assert.ErrorContains(t, err, "invalid_range")
}

// A search ends with its caller, also within one line.
func TestTextMatchingEndsWithItsCaller(t *testing.T) {
	slow := regexp.MustCompile(`(a?l?i?n?e?){50}zzz`)
	for name, original := range map[string]string{
		"many lines": strings.Repeat("a line of text\n", 1_000_000), "one line": strings.Repeat("a line of text ", 1_000_000),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		start := time.Now()
		_, _, _, err := recovery.NewText(original).Matching(ctx, slow, nil, 0)
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		assert.Less(t, time.Since(start), time.Minute, name)
	}
}

func TestTextMatchingLongLines(t *testing.T) {
	long := strings.Repeat("é ", 100_000) + "needle\r"
	text := recovery.NewText("hay\n" + long + "\nneedle\n")
	for _, pattern := range []string{"needle", `n[e]+dle$`, `^(é |needle)*$`} {
		lines, count, _, err := text.Matching(t.Context(), regexp.MustCompile(pattern), nil, 0)
		require.NoError(t, err)
		assert.Equal(t, 2, count, pattern)
		assert.Equal(t, "2│ "+long+"\n3│ needle", lines)
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
			got, count, rest, err := text.Matching(t.Context(), regexp.MustCompile(tc.pattern), tc.ranges, 0)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
			assert.Equal(t, tc.count, count)
			assert.Nil(t, rest)
		})
	}

	page, count, rest, err := text.Matching(t.Context(), regexp.MustCompile("fish"), nil, 15)
	require.NoError(t, err)
	assert.Equal(t, "1│ one fish\r", page)
	assert.Equal(t, 1, count)
	assert.Equal(t, ranges{{2, 4}}, rest)
	_, _, _, err = text.Matching(t.Context(), regexp.MustCompile("x"), ranges{{9, 9}}, 0)
	assert.ErrorContains(t, err, "invalid_range")
	empty, _, _, err := recovery.NewText("").Matching(t.Context(), regexp.MustCompile(""), nil, 0)
	require.NoError(t, err)
	assert.Empty(t, empty)
}

// Every line is found at once, wherever it is and whatever its neighbours are.
func TestTextFindsEveryLine(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, strings.Repeat("x", i%7*i%997), "", strings.Repeat("é\r", i%13*i))
	}
	text := recovery.NewText(strings.Join(lines, "\n"))
	require.Equal(t, lines, text.All())
	for i, line := range lines {
		got, _, err := text.Page(ranges{{i + 1, i + 1}}, false, 0)
		require.NoError(t, err)
		require.Equal(t, line, got, "line %d", i+1)
	}
}

func FuzzTextIsItsLines(f *testing.F) {
	for _, seed := range []string{"", "\n", "a", "a\nb\n", "\r\n\n", "é\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := recovery.NewText(s)
		lines, want := text.All(), s
		if len(lines) > 0 {
			want = strings.TrimSuffix(s, "\n")
			whole, _, err := text.Page(ranges{{1, text.Len()}}, false, 0)
			require.NoError(t, err)
			require.Equal(t, s, whole)
		}
		require.Equal(t, want, strings.Join(lines, "\n"))
	})
}
