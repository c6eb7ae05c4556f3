package grep

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Maximum bytes to keep of an engine's standard error, and of one line while it is parsed:
// more than twice the longest path.
const (
	complaintsKept = 2000
	complaintBytes = 16 << 10
)

// complaints parses the standard error of a search process. When an ignore file above the
// search path has a pattern that rg does not understand, rg ignores the pattern and
// searches on. But it reports the pattern whatever its options, and exits with the code of
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
	badIgnoreLine = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[/\\](?:\.gitignore|\.ignore|\.rgignore|exclude): line \d+: error parsing glob '`)
	})
	systemError = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(os error \d+\)$`) }) // so a file has that name
)

func (c *complaints) take() {
	if badIgnoreLine().Match(c.line) && !systemError().Match(c.line) {
		c.ignored = true
	} else {
		_, _ = c.kept.Write(append(shortLine(c.line), '\n'))
	}
	c.line = c.line[:0]
}

// shortLine omits the middle of a long line: quoted text comes first, the reason last.
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

// text returns the beginning of the standard error, or the given text if there was none.
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

// harmless reports whether a search that exited with an error has in fact succeeded.
func (c *complaints) harmless() bool { return c.text("") == "" && c.ignored }
