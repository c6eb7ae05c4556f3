package grep

import (
	"cmp"
	"fmt"
)

// Result is the result of a search, sorted by path and line.
type Result struct {
	Paths     []string // search paths, as named in the call
	Matches   []Match
	Context   []Line
	Files     []string
	Counts    []Count
	Truncated bool

	Total     int     // matching lines, or files with a match, including those not shown
	Unbounded bool    // the search was stopped early: there are more than Total
	Elsewhere []Count // in mode Content: matches per file that are not shown, by path
}

// Match is one matching line.
type Match struct {
	Path   string `json:"path"`
	Line   int    `json:"line"`
	Column *int   `json:"column"`
	Text   string `json:"text"`
}

func (m Match) String() string {
	if m.Column == nil {
		return fmt.Sprintf("%s:%d:%s", m.Path, m.Line, m.Text)
	}
	return fmt.Sprintf("%s:%d:%d:%s", m.Path, m.Line, *m.Column, m.Text)
}

// Line is a line near a match.
type Line struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

func (l Line) String() string { return fmt.Sprintf("%s-%d-%s", l.Path, l.Line, l.Text) }

// Count is the number of matching lines of a file.
type Count struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

func (c Count) String() string { return fmt.Sprintf("%s:%d", c.Path, c.Count) }

// byName compares paths element by element, in the order of a directory walk: the content
// of directory a comes before a.txt.
func byName(x, y string) int {
	i := 0
	for i < min(len(x), len(y)) && x[i] == y[i] {
		i++
	}
	switch {
	case i == len(x) || i == len(y):
		return cmp.Compare(len(x), len(y))
	case x[i] == '/':
		return -1
	case y[i] == '/':
		return 1
	}
	return cmp.Compare(x[i], y[i])
}
