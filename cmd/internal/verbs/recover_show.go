package verbs

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// showRecovered prints a range of lines or, with a pattern, the matching lines with numbers. first is the number of
// the text's first line.
func showRecovered(w io.Writer, whole string, first, from, to int, re *regexp.Regexp) error {
	if from == 1 && to == 0 && re.String() == "" {
		_, err := io.WriteString(w, whole)
		return err
	}
	lines := strings.SplitAfter(whole, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	last := first + len(lines) - 1
	if from > last || to != 0 && to < first {
		return fmt.Errorf("the original has the lines %d-%d", first, last)
	}
	if to == 0 || to > last {
		to = last
	}
	var out strings.Builder
	for n := max(from, first); n <= to; n++ {
		line := strings.TrimSuffix(lines[n-first], "\n")
		switch {
		case re.String() == "":
			out.WriteString(line + "\n")
		case re.MatchString(line):
			for _, part := range matchingParts(line, re) {
				fmt.Fprintf(&out, "%d%s\n", n, part)
			}
		}
	}
	if out.Len() == 0 {
		return errors.New("no line matches")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Limits of the output for one match, in bytes.
const (
	longLine    = 2_000 // a line up to this length is printed whole
	longRecord  = 8_000 // so is a record up to this length
	aroundMatch = 200   // on each side of a match in anything longer
	mostMatches = 50    // in anything longer; further ones are counted
)

// matchingParts returns what to print of a line that matches, each after the line's number: the whole line or, if it is long, the
// records of its JSON that match and what stands around the other matches.
func matchingParts(line string, re *regexp.Regexp) (parts []string) {
	if len(line) <= longLine {
		return []string{":" + line}
	}
	all := structure.Records(line)
	for i, r := range all {
		if record := line[r.Start:r.End]; re.MatchString(record) {
			parts = append(parts, fmt.Sprintf(", record %d of %d: %s", i+1, len(all), boundedRecord(record, re)))
		}
	}
	var others [][]int
	next := 0 // the first record that may hold a match: both are in order
	for _, at := range re.FindAllStringIndex(line, -1) {
		for next < len(all) && all[next].End <= at[0] {
			next++
		}
		if next == len(all) || all[next].Start >= at[1] {
			others = append(others, at)
		}
	}
	if len(parts) == 0 && len(others) == 0 { // a match from one record into the next
		others = re.FindAllStringIndex(line, -1)
	}
	if len(others) > 0 {
		parts = append(parts, ":"+excerpts(line, others))
	}
	return parts
}

// boundedRecord returns a record, or the text around the matches in it if the record is long.
func boundedRecord(record string, re *regexp.Regexp) string {
	if len(record) <= longRecord {
		return record
	}
	return excerpts(record, re.FindAllStringIndex(record, -1))
}

// excerpts returns the text around the matches, with the number of bytes left out at each gap.
func excerpts(text string, matches [][]int) string {
	var out strings.Builder
	left := 0 // end of what was printed
	gap := func(to int) {
		if to > left {
			fmt.Fprintf(&out, "[%d bytes]", to-left)
		}
	}
	for i, at := range matches {
		if i == mostMatches {
			fmt.Fprintf(&out, "[%d more matches]", len(matches)-i)
			break
		}
		from := boundary(text, max(left, at[0]-aroundMatch))
		to := boundary(text, min(len(text), min(at[1], at[0]+longLine)+aroundMatch))
		if to <= left {
			continue
		}
		gap(from)
		out.WriteString(text[from:to])
		left = to
	}
	gap(len(text))
	return out.String()
}

// boundary returns the start of the character at an offset.
func boundary(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
