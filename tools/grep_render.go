package tools

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/grep"
)

// grepOutput is the result of a search in the shape of the design. Fields with omitempty
// are present only if the call used an argument beyond the design.
type grepOutput struct {
	Tool       string       `json:"tool"`
	Pattern    string       `json:"pattern"`
	Paths      []string     `json:"paths"`
	Matches    []grep.Match `json:"matches"`
	MatchCount int          `json:"match_count"`
	Context    []grep.Line  `json:"context,omitempty"`
	Files      []string     `json:"files,omitempty"`
	Counts     []grep.Count `json:"counts,omitempty"`
	Truncated  bool         `json:"truncated"`
	Duration   int64        `json:"duration_ms"`
	Pruning    any          `json:"pruning"`

	mode    string
	code    string
	emptied string // size of the result, if a pruner kept none of it

	explicit  bool         // the call set its own output limit
	total     int          // number of matching lines, or files, including those not shown
	unbounded bool         // there may be more
	elsewhere []grep.Count // per file: number of matches that are not in Matches
	storedAs  string       // id of the stored original of Matches
	pruned    bool
	rest      string
}

// newGrepOutput converts a result to the shape of the design.
func newGrepOutput(s grep.Search, r *grep.Result) *grepOutput {
	out := &grepOutput{
		Tool: "grep", Pattern: s.Pattern, Paths: r.Paths, Matches: r.Matches, MatchCount: len(r.Matches),
		Context: r.Context, Files: r.Files, Counts: r.Counts, Truncated: r.Truncated, mode: s.Mode,
		total: r.Total, unbounded: r.Unbounded, elsewhere: r.Elsewhere,
	}
	return out.rendered()
}

func (o *grepOutput) rendered() *grepOutput {
	if o.Matches == nil {
		o.Matches = []grep.Match{}
	}
	var lines []string
	for _, e := range o.entries() {
		lines = append(lines, e.text)
	}
	o.code = strings.Join(lines, "\n")
	return o
}

// entry is one rendered line with the match or line it shows. The separator between groups
// of context shows neither.
type entry struct {
	text string
	path string
	line int
	put  func(*grepOutput)
}

const groupSeparator = "--"

func (o *grepOutput) entries() []entry {
	var all []entry
	for _, m := range o.Matches {
		all = append(all, entry{m.String(), m.Path, m.Line, func(to *grepOutput) { to.Matches = append(to.Matches, m) }})
	}
	for _, l := range o.Context {
		all = append(all, entry{l.String(), l.Path, l.Line, func(to *grepOutput) { to.Context = append(to.Context, l) }})
	}
	for _, f := range o.Files {
		all = append(all, entry{text: f, put: func(to *grepOutput) { to.Files = append(to.Files, f) }})
	}
	for _, c := range o.Counts {
		all = append(all, entry{text: c.String(), put: func(to *grepOutput) { to.Counts = append(to.Counts, c) }})
	}
	if len(o.Context) == 0 {
		return all
	}
	rank := map[string]int{} // the matches are in order and come first
	for _, e := range all {
		if _, known := rank[e.path]; !known {
			rank[e.path] = len(rank)
		}
	}
	slices.SortStableFunc(all, func(x, y entry) int {
		return cmp.Or(cmp.Compare(rank[x.path], rank[y.path]), cmp.Compare(x.line, y.line))
	})
	var grouped []entry
	for i, e := range all {
		if i > 0 && (e.path != all[i-1].path || e.line != all[i-1].line+1) {
			grouped = append(grouped, entry{text: groupSeparator})
		}
		grouped = append(grouped, e)
	}
	return grouped
}

func (o *grepOutput) Code() string   { return o.code }
func (o *grepOutput) Text() string   { return o.code }
func (o *grepOutput) Source() Source { return Source{Grep: true} }

func (o *grepOutput) Structured(pruning any) any {
	s := *o
	s.Pruning = pruning
	return s
}

// listedFiles bounds the number of files that a notice names.
const listedFiles = 20

// Notice returns the facts that a client would miss if it showed only the text.
func (o *grepOutput) Notice() string {
	if o.emptied != "" {
		return keptNone(o.emptied, o.storedAs, "call again without context_focus_question for all of it")
	}
	shown, what := len(o.Matches), "matches"
	if o.mode != grep.Content {
		shown, what = len(o.Files)+len(o.Counts), "files"
	}
	if o.total == 0 && o.code == "" && !o.Truncated {
		return "no matches"
	}
	if shown >= o.total && !o.Truncated {
		return ""
	}
	total := strconv.Itoa(o.total)
	if o.unbounded {
		total = "over " + total
	}
	notice := fmt.Sprintf("%d of %s %s shown", shown, total, what)
	if more := o.missing(); len(more) > 0 {
		notice += "; the others: " + strings.Join(more, ", ")
	}
	return notice + readIt(o.storedAs, "all that were found")
}

// missing lists the files of the matches not shown, with the number of matches in each.
func (o *grepOutput) missing() (list []string) {
	for i, c := range o.elsewhere {
		if i == listedFiles {
			return append(list, fmt.Sprintf("%d more files", len(o.elsewhere)-i))
		}
		list = append(list, fmt.Sprintf("%s (%d)", c.Path, c.Count))
	}
	return list
}

// without records the matches that are in o but not in left.
func (o *grepOutput) without(left *grepOutput) {
	kept := map[string]int{}
	for _, m := range left.Matches {
		kept[m.Path]++
	}
	missing := map[string]int{}
	var paths []string
	count := func(path string, n int) {
		if _, known := missing[path]; !known {
			paths = append(paths, path)
		}
		missing[path] += n
	}
	for _, m := range o.Matches {
		count(m.Path, 1)
	}
	for _, e := range o.elsewhere {
		count(e.Path, e.Count)
	}
	left.elsewhere = nil
	for _, path := range paths {
		if n := missing[path] - kept[path]; n > 0 {
			left.elsewhere = append(left.elsewhere, grep.Count{Path: path, Count: n})
		}
	}
}

// WithOriginal records the id under which all matches are stored.
func (o *grepOutput) WithOriginal(id string) Output {
	p := *o
	p.storedAs = id
	return &p
}

// Rest returns the complete result, if it is not stored yet.
func (o *grepOutput) Rest() string { return o.rest }

// WithRest records the id under which the complete result is stored.
func (o *grepOutput) WithRest(id string) Output { return o.WithOriginal(id) }

// Shown returns the fraction of the matches that Cut would keep.
func (o *grepOutput) Shown(limit Limit) float64 {
	if o.explicit {
		return 1
	}
	return limit.fraction(o.code)
}

// Cut keeps the first lines that fit.
func (o *grepOutput) Cut(limit Limit) (Output, bool) {
	if o.explicit || limit.fits(o.code) {
		return o, false
	}
	p := *o
	p.code = strings.TrimSuffix(o.code[:limit.head(o.code)], "\n")
	p.Matches, p.Context, p.Files, p.Counts = []grep.Match{}, nil, nil, nil
	used := 0
	for _, e := range o.entries() {
		if used += len(e.text); used > len(p.code) {
			break
		}
		used++
		if e.put != nil {
			e.put(&p)
		}
	}
	p.MatchCount, p.Truncated = len(p.Matches), true
	o.without(&p)
	if !o.pruned {
		p.rest = o.code
	}
	return &p, true
}

// size describes how much was found.
func (o *grepOutput) size() string {
	if o.mode == grep.Content {
		return plural(len(o.Matches), "match", "matches")
	}
	return plural(len(o.Files)+len(o.Counts), "file", "files")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "the one " + one
	}
	return fmt.Sprintf("the %d %s", n, many)
}

var filteredMarker = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\(filtered \d+ lines?\)\s*$`) })

// Prune parses the pruned text. Its lines are the lines that were sent, some of them left
// out or replaced by a mark. Only an unknown line has to be split into path, line and text,
// which is ambiguous if a path contains a colon.
func (o *grepOutput) Prune(pruned string) (Output, error) {
	p := *o
	p.Matches, p.Context, p.Files, p.Counts = nil, nil, nil, nil
	if blank(pruned) {
		p.emptied = o.size()
	}
	known := o.known()
	for rest := strings.ReplaceAll(pruned, "\r\n", "\n"); rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		if e, ok := known.at(line, rest); ok {
			if e.put != nil {
				e.put(&p)
			}
			rest = strings.TrimPrefix(rest[len(e.text):], "\n")
			continue
		}
		rest = after
		if strings.TrimSpace(line) == "" || filteredMarker().MatchString(line) {
			continue
		}
		if err := p.parse(line, known); err != nil {
			return nil, err
		}
	}
	p.MatchCount = len(p.Matches)
	pp := p.rendered()
	pp.code, pp.pruned = pruned, pruned != o.code
	o.without(pp)
	return pp, nil
}

// knownLines finds rendered entries by their first line: a path may contain line ends, so
// an entry may span several lines.
type knownLines struct {
	entries map[string][]entry
	paths   map[string]bool
}

func (o *grepOutput) known() knownLines {
	k := knownLines{map[string][]entry{}, map[string]bool{}}
	for _, e := range o.entries() {
		first, _, _ := strings.Cut(e.text, "\n")
		k.entries[first] = append(k.entries[first], e)
		k.paths[e.path] = true
	}
	return k
}

// at returns the entry with which rest begins; line is the first line of rest.
func (k knownLines) at(line, rest string) (entry, bool) {
	for _, e := range k.entries[line] {
		after, ok := strings.CutPrefix(rest, e.text)
		if ok && (after == "" || after[0] == '\n') {
			return e, true
		}
	}
	return entry{}, false
}

var errUnreadable = errors.New("a line is not path:line:column:text")

// parse splits a line that was not sent in this form.
func (o *grepOutput) parse(line string, known knownLines) error {
	switch o.mode {
	case grep.Files:
		return errUnreadable
	case grep.Counts:
		i := strings.LastIndexByte(line, ':')
		n, ok := positive(line[i+1:])
		if i <= 0 || !ok {
			return errUnreadable
		}
		o.Counts = append(o.Counts, grep.Count{Path: line[:i], Count: n})
		return nil
	}
	m, ok := parseGrepLine(line, known.paths)
	if !ok {
		return errUnreadable
	}
	o.Matches = append(o.Matches, m)
	return nil
}

// parseGrepLine parses path:line:column:text or path:line:text. The path ends before the
// first line number, unless a longer path is known.
func parseGrepLine(line string, paths map[string]bool) (grep.Match, bool) {
	var found grep.Match
	ok := false
	longest := 0 // bounds the time for a long line full of colons
	for path := range paths {
		longest = max(longest, len(path))
	}
	for i := 1; i < len(line) && (i <= longest || !ok); i++ {
		if line[i] != ':' {
			continue
		}
		isKnown := i <= longest && paths[line[:i]]
		if ok && !isKnown {
			continue
		}
		m, parsed := parsePosition(line[:i], line[i+1:])
		if !parsed {
			continue
		}
		found, ok = m, true
		if isKnown {
			return found, true
		}
	}
	return found, ok
}

func parsePosition(path, rest string) (grep.Match, bool) {
	number, text, ok := strings.Cut(rest, ":")
	line, valid := positive(number)
	if !ok || !valid {
		return grep.Match{}, false
	}
	m := grep.Match{Path: path, Line: line, Text: text}
	if number, after, ok := strings.Cut(text, ":"); ok {
		if column, valid := positive(number); valid {
			m.Column, m.Text = &column, after
		}
	}
	return m, true
}

// positive parses a plain decimal number greater than zero.
func positive(s string) (int, bool) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}
