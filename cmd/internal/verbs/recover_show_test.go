package verbs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// issueRecords is JSON on one line, as an MCP server returns it.
func issueRecords(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"number":%d,"title":"issue about café %d","labels":[{"name":"bug"},{"name":"p%d"}]}`, i, i, i%3))
	}
	return `{"total_count":` + fmt.Sprint(n) + `,"items":[` + strings.Join(all, ",") + `]}`
}

func shownMatches(t *testing.T, text, pattern string) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, showRecovered(&out, text, 1, 1, 0, regexp.MustCompile(pattern)))
	return out.String()
}

// A pattern on JSON of one line gives the records that match, whole, and not all of it again.
func TestAPatternOnOneLineOfJSON(t *testing.T) {
	text := issueRecords(240)
	assert.Equal(t, `1, record 18 of 240: {"number":17,"title":"issue about café 17","labels":[{"name":"bug"},{"name":"p2"}]}`+"\n", shownMatches(t, text, `"number":17,`))
	assert.Equal(t, 80, strings.Count(shownMatches(t, text, `"p0"`), "\n"), "every record that matches")
	envelope := shownMatches(t, text, "total_count")
	assert.True(t, strings.HasPrefix(envelope, `1:{"total_count":240,"items":[`), envelope)
	assert.Less(t, len(envelope), 500, "what is in no record is shown with what stands around it")
	both := shownMatches(t, text, `total_count|"number":239,`)
	assert.Contains(t, both, `1, record 240 of 240: {"number":239,`)
	assert.Contains(t, both, `1:{"total_count"`)
	across := shownMatches(t, text, `\}\]\},\{"number":5,`)
	assert.Less(t, len(across), 600, "a match from one record into the next")
	assert.Contains(t, across, `{"number":5,`)
	assert.Equal(t, "2, record 1 of 2: [1]\n", shownMatches(t, "x\n[[1],[\""+strings.Repeat("y", longLine)+"\"]]\n", "1"))
}

// A long line that is no JSON is shown around its matches; every gap is counted and no character is torn.
func TestAPatternOnALongLine(t *testing.T) {
	text := strings.Repeat("é", 20_000) + "needle" + strings.Repeat("é", 20_000) + "needle" + strings.Repeat("é", 50)
	got := shownMatches(t, text, "needle")
	assert.Equal(t, 2, strings.Count(got, "needle"))
	assert.Less(t, len(got), 1_000)
	assert.True(t, utf8.ValidString(got))
	total := 0
	for _, gap := range regexp.MustCompile(`\[(\d+) bytes\]`).FindAllStringSubmatch(got, -1) {
		var n int
		_, err := fmt.Sscan(gap[1], &n)
		require.NoError(t, err)
		total += n
	}
	kept := regexp.MustCompile(`\[\d+ bytes\]|^1:|\n$`).ReplaceAllString(got, "")
	assert.Equal(t, len(text), total+len(kept))
	many := shownMatches(t, strings.Repeat("needle"+strings.Repeat(".", 500), 100), "needle")
	assert.Contains(t, many, "[50 more matches]")
	all := shownMatches(t, text, ".*")
	assert.Less(t, len(all), 3*longLine)
	assert.Equal(t, "1:short needle\n", shownMatches(t, "short needle\nother\n", "needle"))
}

// A record that is itself long is shown around its matches.
func TestALongRecord(t *testing.T) {
	text := `[{"id":1,"body":"` + strings.Repeat("x", 20_000) + `needle"},{"id":2,"body":"` + strings.Repeat("z", 3_000) + `"}]`
	got := shownMatches(t, text, "needle")
	assert.True(t, strings.HasPrefix(got, "1, record 1 of 2: ["), got[:40])
	assert.Less(t, len(got), 600)
}

func FuzzMatching(f *testing.F) {
	f.Add(issueRecords(50), "number")
	f.Add(strings.Repeat("é", 3_000), "")
	f.Fuzz(func(t *testing.T, line, pattern string) {
		re, err := regexp.Compile(pattern)
		if err != nil || !re.MatchString(line) {
			t.Skip()
		}
		if parts := matchingParts(line, re); len(parts) == 0 {
			t.Error("a line that matches shows nothing")
		}
	})
}
