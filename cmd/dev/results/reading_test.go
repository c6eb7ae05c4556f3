package results

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// reading is an output read line by line against the result's own lines, as a model reads it.
type reading struct {
	lines  []string // the result's, as the door shows them
	first  int      // number of the first line, in gaps
	gapped bool     // every gap has a marker
	free   bool     // lines carry their numbers, and may stand in any order

	kept   map[int]bool // by index
	at     int          // index after the last kept line
	open   bool         // a marker without numbers stands before the next line
	said   []int        // what the header says: kept, all
	faults []string
}

// read compares an output with the result. It returns the lines that were kept and what is wrong.
func (s *Sample) read(door, out string) *reading {
	kind := s.call().Kind
	r := &reading{kept: map[int]bool{}, first: 1, free: door == "hook" && kind == history.Read && s.client == "claude"}
	if door == "server" {
		r.first = s.first
	}
	r.gapped = !r.free && !(kind == history.Grep) && !bare.MatchString(out)
	r.lines = strings.Split(strings.TrimRight(s.at(door), "\n"), "\n")
	out, _ = cutRemarks(out)
	if door == "server" && kind == history.Grep {
		out = withoutColumns(out)
	}
	for _, line := range strings.Split(out, "\n") {
		r.line(line)
	}
	if r.gapped && r.at < len(r.lines) && !r.open {
		r.fault("the lines from %d on are missing without a marker", r.first+r.at)
	}
	if r.said != nil {
		r.count(door == "server" && kind == history.Grep)
	}
	return r
}

// framing is the largest number of lines that a client writes around a result, which no header counts.
const framing = 6

// count compares the header with the lines. Headers count neither the client's own lines, which always stay, nor in this
// program's searches the lines of context.
func (r *reading) count(matchesOnly bool) {
	kept, all := 0, 0
	for i, line := range r.lines {
		if matchesOnly && oneLine.FindStringSubmatch(line)[2] != ":" {
			continue
		}
		all++
		if r.kept[i] {
			kept++
		}
	}
	if more := all - r.said[1]; more < 0 || more > framing || kept-r.said[0] != more {
		r.fault("the header says %d of %d lines, and %d of %d are there", r.said[0], r.said[1], kept, all)
	}
}

func (r *reading) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

var (
	header   = regexp.MustCompile(`^\[(?:\w+: )?(\d+) of (\d+) (?:lines|matches)\b`)
	marker   = regexp.MustCompile(`^\s*(?:# |")?\.\.\.(?: ?(\d+)(?:-(\d+))?)?(?:"?: "?([^"]{1,96}))?"?,?$`) // in JSON and YAML too
	bare     = regexp.MustCompile(`(?m)^\[\d+ of \d+ lines; all: |^\[grep: \d`)                             // lists of matches have no markers
	progress = regexp.MustCompile(`^\[progress shows its last state; all: `)
	unshown  = regexp.MustCompile(`^\[relevant too, but too long for this note: lines [\d, a-z-]+\]$`)
	columns  = regexp.MustCompile(`(?m)^(\S+?:\d+:)\d+:`)
	remark   = regexp.MustCompile(`\n+\[(?:exit code \d+|total_lines=\d+|not pruned: [^\n]*|recover_text [^\n]*|\w+: all \d+ lines kept[^\n]*)\]$`)
)

// withoutColumns removes the columns of this program's matches.
func withoutColumns(out string) string { return columns.ReplaceAllString(out, "$1") }

// cutRemarks splits an output from the lines below it that the server adds.
func cutRemarks(out string) (text, remarks string) {
	text = strings.TrimSuffix(out, "\n")
	for {
		at := remark.FindStringIndex(text)
		if at == nil {
			return text, remarks
		}
		text, remarks = text[:at[0]], strings.TrimLeft(text[at[0]:], "\n")+"\n"+remarks
	}
}

// line reads one line of an output.
func (r *reading) line(line string) {
	switch {
	case r.next(line):
	case header.MatchString(line):
		m := header.FindStringSubmatch(line)
		kept, _ := strconv.Atoi(m[1])
		all, _ := strconv.Atoi(m[2])
		r.said = []int{kept, all}
	case marker.MatchString(line):
		r.marked(line, marker.FindStringSubmatch(line))
	case progress.MatchString(line):
	case line == "[note]", unshown.MatchString(line): // of the hook
	default:
		r.fault("%q is no line of the result at its place", line)
	}
}

// marked reads the marker of a gap. Among lines that carry their numbers it has none itself.
func (r *reading) marked(line string, m []string) {
	if m[1] == "" || r.free {
		r.open = true
		return
	}
	from, _ := strconv.Atoi(m[1])
	to := from
	if m[2] != "" {
		to, _ = strconv.Atoi(m[2])
	}
	if from != r.first+r.at {
		r.fault("%q follows line %d", line, r.first+r.at-1)
	}
	r.at = to - r.first + 1
}

// next notes a line of the result, if it is one.
func (r *reading) next(line string) bool {
	from := r.at
	if r.free {
		from = 0
	}
	for i := from; i < len(r.lines); i++ {
		if lastState(r.lines[i]) == line {
			r.kept[i], r.at, r.open = true, i+1, false
			return true
		}
		if r.gapped && !r.open {
			return false
		}
	}
	return false
}

// lastState returns what a terminal shows of a line that was written over itself.
func lastState(line string) string { return line[strings.LastIndexByte(line, '\r')+1:] }

// headsAt returns the headings of a door's output. This program's own search names the file in each line.
func (s *Sample) headsAt(door string) []heads {
	if door == "server" && s.call().Kind == history.Grep {
		return nil
	}
	return s.heads
}

// headless lists the rows that were kept without the heading above them.
func (r *reading) headless(all []heads) (rows []string) {
	for _, h := range all {
		above := -1
		for i, line := range r.lines {
			switch {
			case h.heading.MatchString(line):
				above = i
			case r.kept[i] && above >= 0 && !r.kept[above] && (h.row == nil || h.row.MatchString(line)):
				rows = append(rows, fmt.Sprintf("%q without %q", line, r.lines[above]))
			}
		}
	}
	return rows
}

// foundByUs is the result of a search as this program's grep finds it in the planted files.
func foundByUs(text string) string {
	found := map[string]string{} // by place; a later match at a place replaces the earlier one
	all := matches(text)
	for _, m := range all {
		found[m.place()] = m.text
	}
	slices.SortFunc(all, func(a, b match) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	var b strings.Builder
	for _, m := range all {
		if text, ok := found[m.place()]; ok {
			b.WriteString(m.place() + m.mark + text + "\n")
			delete(found, m.place())
		}
	}
	return b.String()
}
