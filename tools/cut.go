package tools

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Limit is the part of one output that a model is shown, at most what its client's own tool
// would show.
type Limit agent.Limit

// Cutter is an Output that can be cut to a limit. Cut returns false if the output fits, or
// if the call set its own limit. The notice must mention the cut and, after WithOriginal,
// the id under which the left-out part can be read.
type Cutter interface {
	Cut(Limit) (Output, bool)
	Shown(Limit) float64 // the fraction of the text that a cut would leave
}

// Ends returns the fraction of its result's tokens that a call keeps where nobody asked anything; 0: it has a question.
func Ends(call Call) float64 {
	if unasked, ok := call.(interface{ Ends() float64 }); ok {
		return unasked.Ends()
	}
	return 0
}

// Keeper is an Output that names the id of the stored original after pruning or a cut.
type Keeper interface {
	WithOriginal(id string) Output
}

// Rester is a cut Output whose left-out part must be stored to be readable later, such as
// the output of a command; a file, in contrast, can be read again.
type Rester interface {
	Rest() string // the text to store; "" when nothing needs to be stored
	WithRest(id string) Output
}

// take uses up a line with its line end, if there is room for it.
func (l *Limit) take(line string) bool {
	tokens := 0
	if l.Tokens != 0 {
		tokens = lineTokens(line)
	}
	if exceeds(l.Lines, 1) || exceeds(l.Bytes, len(line)) || exceeds(l.Tokens, tokens) {
		return false
	}
	use(&l.Lines, 1)
	use(&l.Bytes, len(line))
	use(&l.Tokens, tokens)
	return true
}

// full marks a limit that is used up, because 0 would mean no limit.
const full = -1

func exceeds(left, n int) bool { return left == full && n > 0 || left > 0 && n > left }

func use(left *int, n int) {
	if *left > 0 {
		if *left -= n; *left == 0 {
			*left = full
		}
	}
}

// longLine is the length in bytes above which a line's tokens are estimated from its
// beginning.
const longLine = 4 << 10

func lineTokens(line string) int {
	if len(line) <= longLine {
		return max(tokens.Estimate(line), 1)
	}
	return tokens.Estimate(string(files.CutRune([]byte(line[:longLine]), longLine-1))) * (len(line) / longLine)
}

// fits reports whether a text is within the limit. It reads no more of the text than
// needed.
func (l Limit) fits(text string) bool {
	if l.Bytes > 0 && len(text) > l.Bytes {
		return false
	}
	if (l.Lines == 0 || strings.Count(text, "\n") < l.Lines) && (l.Tokens == 0 || len(text) < l.Tokens) {
		return true // a token has at least one byte
	}
	return l.head(text) == len(text)
}

// fraction returns approximately the fraction of a text that fits.
func (l Limit) fraction(text string) float64 {
	if l.fits(text) {
		return 1
	}
	part := func(limit, of int) float64 {
		if limit == 0 || of == 0 {
			return 1
		}
		return float64(limit) / float64(of)
	}
	beginning := text[:min(len(text), 64<<10)]
	tokens := 0
	for line := range strings.Lines(beginning) {
		tokens += lineTokens(line)
	}
	tokens = tokens * len(text) / max(len(beginning), 1)
	return min(1, part(l.Lines, strings.Count(text, "\n")+1), part(l.Bytes, len(text)), part(l.Tokens, tokens))
}

// head returns how many bytes of a text's beginning fit: whole lines, unless the first line
// does not fit.
func (l Limit) head(text string) int {
	left, at := l, 0
	for line := range strings.Lines(text) {
		if !left.take(line) {
			break
		}
		at += len(line)
	}
	if at == 0 && text != "" {
		return l.part(text)
	}
	return at
}

// tail returns the offset at which the last lines that fit begin.
func (l Limit) tail(text string) int {
	left, at := l, len(text)
	for at > 0 {
		from := strings.LastIndexByte(text[:at-1], '\n') + 1
		if !left.take(text[from:at]) {
			break
		}
		at = from
	}
	return at
}

// part returns how many bytes of one line fit.
func (l Limit) part(line string) int {
	n := len(line)
	if l.Bytes > 0 {
		n = min(n, l.Bytes)
	}
	for l.Tokens > 0 && n > 16 && lineTokens(line[:n]) > l.Tokens {
		n = n * 3 / 4
	}
	return len(files.CutRune([]byte(line[:min(n+1, len(line))]), n))
}

func (l Limit) share(percent int) Limit {
	of := func(n int) int {
		if n == 0 {
			return 0
		}
		return max(n*percent/100, 1)
	}
	return Limit{Lines: of(l.Lines), Bytes: of(l.Bytes), Tokens: of(l.Tokens)}
}
