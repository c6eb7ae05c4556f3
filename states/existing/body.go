// Package existing prunes a result that a client's own tool has just produced. The hooks, the proxy and replay
// share it, so that replay measures what the other two send.
package existing

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Body is a tool's output without the words and line numbers that a client put around and before its lines.
type Body struct {
	Lines    []string
	First    int    // number of the first line: in its file if lines are numbered, else in the client's text
	Mark     string // separator between a number and its line; "" if lines are not numbered
	Pad      int    // width of the numbers; 0 if they are not aligned
	Head     string // the client's text before the lines
	Tail     string // the client's text after them
	Trailing bool   // the output ended with a newline
	OfFile   bool   // lines without numbers are a part of a file, and First is the number there

	All string // the text to store, if Lines are a part of it; "": they are all

	overwritten string // the lines as a program wrote them, if Lines have only the last states of some; "" if they are the same

	code, out string // what Code and Original return, if it need not be joined: a copy of 1 MB costs more than to look at it
}

// NewBody splits an output into lines and removes a client's line numbers from a read. Of the lines that a command
// overwrote to show its progress it has the last state, as a terminal shows it.
func NewBody(kind history.Kind, out string) Body {
	if kind == history.Read {
		if t, ok := unnumbered(out); ok {
			return t
		}
	}
	head, lines, tail := framed(out)
	overwritten := ""
	if kind == history.Bash {
		if shown := terminal.LastStates(lines); len(shown)+terminal.LeastSaved <= len(lines) {
			lines, overwritten = shown, strings.TrimSuffix(lines, "\n")
		}
	}
	code, trailing := strings.CutSuffix(lines, "\n")
	b := Body{
		overwritten: overwritten, code: code,

		Head: head, Lines: strings.Split(code, "\n"), Tail: tail,
		First: 1 + strings.Count(head, "\n"), Trailing: trailing,
	}
	if overwritten == "" {
		b.out = out
	}
	return b
}

// BodyOf returns the body of lines that a client numbers from first without writing the numbers into its text.
func BodyOf(text string, first int) Body {
	return Body{Lines: strings.Split(text, "\n"), First: first, Mark: "\t", code: text}
}

// ResultBody returns the body of a call's result. Not every client numbers the lines of a file that it shows: the numbers in gaps
// and on the way back are the file's all the same.
func ResultBody(call history.ToolCall, out string) Body {
	b := NewBody(call.Kind, out)
	if b.Mark != "" || call.Kind != history.Read {
		return b
	}
	first := call.Offset
	if m := shownFrom().FindStringSubmatch(b.Head); m != nil {
		first, _ = strconv.Atoi(m[1]) // digits
	}
	if first > 0 && first != b.First {
		b.First, b.OfFile, b.out = first, true, ""
	}
	return b
}

// shownFrom matches how a client says, before the lines of a file, which they are.
var shownFrom = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`Showing lines (\d{1,9})-\d`) })

// Original returns the text to store for a cut output, and the number of its first line. Of lines with numbers in a file that is
// the part of the file, else all that the client shows: the exit status is part of it.
func (b Body) Original() (text string, first int) {
	switch {
	case b.All != "":
		return b.All, 1
	case b.out != "":
		return b.out, 1
	}
	text = cmp.Or(b.overwritten, b.Code())
	if b.Trailing {
		text += "\n"
	}
	if b.LinesOnly() {
		return text, b.First
	}
	return b.Head + text + b.Tail, 1
}

// beforeLines is the end of opencode's text before the lines of a file. Some versions have a line break after it.
const beforeLines = "<content>"

// unnumbered removes consecutive line numbers in the form of Claude Code, " 12→code" or "12<tab>code", or
// of opencode, "12: code" after a head, or of Cline, "12 | code". The text after the last numbered line becomes Tail.
func unnumbered(out string) (Body, bool) {
	var t Body
	rest := out
	if before, after, found := strings.Cut(out[:min(len(out), maxFrame)], beforeLines); found {
		t.Head = before + beforeLines
		if strings.HasPrefix(after, "\n") {
			t.Head += "\n"
		}
		rest = out[len(t.Head):]
	}
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		n, mark, code, ok := numberedLine(line)
		switch {
		case !ok && t.Lines == nil:
			return Body{}, false
		case !ok || t.Lines != nil && n != t.First+len(t.Lines):
			t.Tail = rest
			return t, len(t.Lines) > 0
		case t.Lines == nil:
			t.First, t.Mark, t.Pad = n, mark, padding(line)
		}
		t.Lines = append(t.Lines, code)
		rest = after
	}
	return t, len(t.Lines) > 0
}

// Numbered returns the number and the text of a line that a client numbered.
func Numbered(line string) (n int, code string, ok bool) {
	n, _, code, ok = numberedLine(line)
	return n, code, ok
}

func numberedLine(line string) (n int, mark, code string, ok bool) {
	trimmed := strings.TrimLeft(line, " ")
	end := strings.IndexFunc(trimmed, func(r rune) bool { return r < '0' || r > '9' })
	if end < 1 || end > 9 {
		return 0, "", "", false
	}
	n, _ = strconv.Atoi(trimmed[:end])
	for _, mark := range []string{"→", "\t", ": ", " | "} { // Claude Code then and now, opencode, Cline
		if code, ok := strings.CutPrefix(trimmed[end:], mark); ok {
			return n, mark, code, true
		}
	}
	return 0, "", "", false
}

// padding returns the width of an aligned number.
func padding(line string) int {
	if line[0] != ' ' {
		return 0
	}
	return strings.IndexFunc(line, func(r rune) bool { return r != ' ' && (r < '0' || r > '9') })
}

// NumberedByClaude reports whether the numbers are in the form of Claude Code.
func (b Body) NumberedByClaude() bool { return b.Mark == "\t" || b.Mark == "→" }

// LinesOnly reports whether the text to store is the lines without the client's words around them.
func (b Body) LinesOnly() bool { return b.Mark != "" || b.OfFile }

// Text returns all that the client shows.
func (b Body) Text() string {
	if !b.LinesOnly() {
		text, _ := b.Original()
		return text
	}
	lines := make([]string, len(b.Lines))
	for i := range b.Lines {
		lines[i] = b.Line(i + 1)
	}
	return b.Head + strings.Join(lines, "\n") + b.Tail
}

// Tokens estimates the tokens of what the tool printed. The thresholds of pruning are in these, so that a client's line
// numbers and its own words make no difference.
func (b Body) Tokens() int { return tokens.EstimateWell(cmp.Or(b.overwritten, b.Code())) }

// Code is the text without numbers.
func (b Body) Code() string {
	if b.code != "" {
		return b.code
	}
	return strings.Join(b.Lines, "\n")
}

// Hidden returns the lines of a command's output that a client does not show, with their numbers. head and tail are what it
// shows, and lead is what is to be said of them. ok is false if the output does not begin with head, or if all is shown.
func Hidden(all, head, tail, lead string) (b Body, ok bool) {
	if !Begins(all, head) {
		return Body{}, false
	}
	head, tail = strings.TrimSpace(head), strings.TrimSpace(tail)
	from := strings.Index(all, head) + len(head)
	from = strings.LastIndexByte(all[:from], '\n') + 1 // the line at the cut is not whole
	to := len(strings.TrimRight(all, " \t\r\n"))
	if strings.HasSuffix(all[:to], tail) && tail != "" {
		to -= len(tail)
		if end := strings.IndexByte(all[to:], '\n'); end >= 0 {
			to += end
		}
	}
	if to <= from {
		return Body{}, false
	}
	first := 1 + strings.Count(all[:from], "\n")
	lines := strings.Split(all[from:to], "\n")
	return Body{All: all, Lines: lines, First: first, Mark: "\t", Head: fmt.Sprintf(lead, first, first+len(lines)-1)}, true
}

// Begins reports whether a text begins with another, apart from white space around it.
func Begins(text, head string) bool {
	head = strings.TrimSpace(head)
	return head != "" && strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), head)
}

// Line returns line n as the client shows it, including its number in the file if the client numbers lines.
func (b Body) Line(n int) string {
	if b.Mark == "" {
		return b.Lines[n-1]
	}
	return fmt.Sprintf("%*d%s%s", b.Pad, b.First+n-1, b.Mark, b.Lines[n-1])
}

// Shown returns the given lines as the client shows them.
func (b Body) Shown(lines []int) string {
	var out strings.Builder
	for i, n := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(b.Line(n))
	}
	return out.String()
}
