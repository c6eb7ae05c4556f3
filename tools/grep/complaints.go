package grep

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-pruner/tools/files"
)

// How much is kept of what an engine says on standard error, and of one line
// while it is looked at: more than the longest path, twice.
const (
	complaintsKept = 2000
	complaintBytes = 16 << 10
)

// complaints takes what a search process says on standard error. A pattern that rg
// does not understand, in an ignore file above the search path, it passes over and
// searches on; but it says so whatever it is told, and ends with the exit code of
// a failed search.
type complaints struct {
	kept    files.Sink
	line    []byte
	ignored bool // there was a line about an ignore file
}

func newComplaints() *complaints { return &complaints{kept: files.Sink{Limit: complaintsKept}} }

func (c *complaints) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		c.line = append(c.line, part[:min(len(part), complaintBytes-len(c.line))]...)
		if ended {
			c.take()
		}
		p = rest
	}
	return n, nil
}

var (
	badIgnoreLine = regexp.MustCompile(`[/\\](?:\.gitignore|\.ignore|\.rgignore|exclude): line \d+: error parsing glob '`)
	systemError   = regexp.MustCompile(`\(os error \d+\)$`) // so a file has that name
)

func (c *complaints) take() {
	if badIgnoreLine.Match(c.line) && !systemError.Match(c.line) {
		c.ignored = true
	} else {
		_, _ = c.kept.Write(append(shortLine(c.line), '\n'))
	}
	c.line = c.line[:0]
}

// shortLine leaves out the middle of a long line: what it quotes stands before the
// reason, which is at the end.
func shortLine(line []byte) []byte {
	if len(line) <= 2*files.QuotedBytes {
		return line
	}
	from := len(line) - files.QuotedBytes
	for from < len(line) && !utf8.RuneStart(line[from]) {
		from++
	}
	return slices.Concat(files.CutRune(line, files.QuotedBytes), []byte("…"), line[from:])
}

// text is the beginning of what was said, or else the words for nothing.
func (c *complaints) text(nothing string) string {
	if len(c.line) > 0 {
		c.take()
	}
	c.kept.End()
	if text := strings.TrimSpace(string(c.kept.Text)); text != "" {
		return text
	}
	return nothing
}

// harmless says that a search that ended as failed has not.
func (c *complaints) harmless() bool { return c.text("") == "" && c.ignored }
