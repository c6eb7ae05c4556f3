package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// specDir contains the transcribed design.
const specDir = "../../../testdata/spec"

// specFile is a transcription: a Markdown file with lists and one table.
type specFile struct {
	text string
	rows []map[string]string // by column name
}

// readSpec reads testdata/spec/NAME. It fails the test if a row does not have one cell for each column.
func readSpec(t *testing.T, name string) specFile {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(specDir, name))
	require.NoError(t, err)
	f := specFile{text: string(raw)}
	var columns []string
	for _, line := range strings.Split(f.text, "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), `\p`, "|")
		}
		if columns == nil {
			columns = cells
			continue
		}
		require.Len(t, cells, len(columns), "%s: %s", name, line)
		row := make(map[string]string)
		for i, c := range columns {
			row[c] = cells[i]
		}
		f.rows = append(f.rows, row)
	}
	require.NotEmpty(t, f.rows, "%s holds no table", name)
	return f
}

var quoted = regexp.MustCompile("`([^`]+)`")

// list returns the items of the line "Title: `a` `b`".
func (f specFile) list(t *testing.T, title string) []string {
	t.Helper()
	i := strings.Index(f.text, title+": ")
	require.GreaterOrEqual(t, i, 0, "no line %q", title)
	line, _, _ := strings.Cut(f.text[i:], "\n")
	var items []string
	for _, m := range quoted.FindAllStringSubmatch(line, -1) {
		items = append(items, m[1])
	}
	return items
}
