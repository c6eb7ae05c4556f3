package structure

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// signalWords are the words that mark a log line as trouble, with their weights. Words that do so only
// before certain other words are in signalPhrases.
var signalWords = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	for _, line := range doc.ListLines("logs", "signals") {
		weight, words := doc.ListNumber(line)
		for w := range strings.FieldsSeq(words) {
			out[w] = weight
		}
	}
	return out
})

// signalPhrases are pairs of words that signal trouble, with their weights: the second word distinguishes
// them from harmless uses of the first.
var signalPhrases = sync.OnceValue(func() map[string]map[string]float64 {
	out := map[string]map[string]float64{}
	for _, line := range doc.ListLines("logs", "phrases") {
		weight, rest := doc.ListNumber(line)
		word, after, _ := strings.Cut(rest, " ")
		if out[word] == nil {
			out[word] = map[string]float64{}
		}
		out[word][doc.Unquoted(after)] = weight
	}
	return out
})

// signalFilter passes the words that begin like one of the above.
var signalFilter = sync.OnceValue(func() *doc.WordFilter {
	var f doc.WordFilter
	for w := range signalWords() {
		f.Add(w)
	}
	for w := range signalPhrases() {
		f.Add(w)
	}
	return &f
})

// Signal returns how much a log line looks like trouble, 0..1.
func Signal(line string) float64 {
	line = line[:min(len(line), doc.SignalPrefix)]
	if harmless(line) {
		return 0
	}
	if Warns(line) {
		return doc.WarningSignal
	}
	filter, best := signalFilter(), 0.0
	switch {
	case asserts(line):
		return 1
	case FailingTest(line):
		best = doc.FailingSignal
	}
	if diagnostic(line) && !strings.Contains(line, "warning:") && !strings.Contains(line, "note:") && !passingBy(line) {
		best = 0.95
	}
	for i := 0; i+1 < len(line); {
		if !doc.Letter(line[i]) {
			i++
			continue
		}
		end := partEnd(line, i)
		if end-i >= 2 && filter.Passes(line[i:end]) {
			best = max(best, wordSignal(line, i, end))
		}
		i = end
	}
	if best > 0.5 && Verdict(line) {
		return 0.5
	}
	return best
}

// asserts reports whether a line is pytest's explanation of an assertion or an exception.
func asserts(line string) bool { return strings.HasPrefix(line, "E   ") }

// partEnd returns the end of the part of an identifier that begins at i. AssertionError and IOException
// have two parts, ERROR has one.
func partEnd(line string, i int) int {
	end := i
	for end < len(line) && doc.ByteClass[line[end]] == doc.Upper {
		end++
	}
	if end-i > 1 {
		if end < len(line) && doc.ByteClass[line[end]] == doc.Lower {
			end-- // the last capital starts the next part
		}
		return end
	}
	for end < len(line) && doc.ByteClass[line[end]] == doc.Lower {
		end++
	}
	return end
}

func wordSignal(line string, start, end int) float64 {
	var buf [24]byte
	if end-start > len(buf) || end-start < 2 {
		return 0
	}
	word := doc.Lowered(buf[:0], line[start:end])
	if weight, ok := signalWords()[string(word)]; ok {
		switch {
		case countsNothing(line, start, end), inFileName(line, start, end):
			return 0
		case weight == 0.6 && line[start] == 'F': // go test, unittest and others print it in capitals
			return 1
		}
		return weight
	}
	for after, weight := range signalPhrases()[string(word)] {
		if strings.HasPrefix(line[end:], after) {
			return weight
		}
	}
	return 0
}

// inFileName reports whether the word line[start:end] is part of a path, its extension excluded.
// mp_error_to_string.o does not signal an error, but error.message="..." does.
func inFileName(line string, start, end int) bool {
	line = line[:min(len(line), end+doc.LongestName)]
	for end < len(line) && (doc.InWord(doc.ByteClass[line[end]]) || strings.IndexByte("-./", line[end]) >= 0) {
		end++
	}
	name, rest := strings.TrimRight(line[start:end], "."), line[end:]
	if strings.HasPrefix(rest, "=") || strings.HasPrefix(rest, `":`) {
		return false
	}
	ext := path.Ext(name)
	return len(ext) > 1 && doc.ByteClass[ext[1]] == doc.Lower && (doc.KindOfFile(name) != doc.Auto || slices.Contains(madeOfCode, ext))
}

// madeOfCode are the extensions of compilers' outputs and of declaration files.
var madeOfCode = []string{".o", ".lo", ".a", ".so", ".d", ".class", ".pyc"}

// countsNothing reports whether the word stands for a count of zero or no value: "0 errors", "failures=0",
// "errors: 0", "error":null.
func countsNothing(line string, start, end int) bool {
	before := line[:start]
	if strings.HasSuffix(before, "0 ") && (len(before) == 2 || doc.ByteClass[before[len(before)-3]] != doc.Digit) {
		return true
	}
	value := strings.TrimLeft(line[end:], `:= "`)
	between := line[end : len(line)-len(value)]
	switch {
	case between == "":
		return false
	case strings.HasSuffix(between, `""`), strings.HasPrefix(value, "[]"):
		return true
	}
	for _, nothing := range []string{"0", "null", "nil", "<nil>", "none", "None", "false"} {
		if rest, ok := strings.CutPrefix(value, nothing); ok {
			// "error: null pointer" does signal an error.
			return rest == "" || strings.IndexByte(`,;)]}"`, rest[0]) >= 0 || rest[0] == ' ' && (nothing == "0" || between == "=")
		}
	}
	return false
}

// diagnostic reports whether a line is a compiler's message: it starts with path:line: or path(line,
func diagnostic(line string) bool {
	rest, ok := afterPath(line)
	return ok && strings.TrimLeft(rest, "0123456789") != "" // otherwise it is a count of matches
}

// afterPath returns the rest of a line after the path at its start, from the line number on.
func afterPath(line string) (rest string, ok bool) {
	if line == "" || doc.ByteClass[line[0]] == doc.Digit { // a time, not a path
		return "", false
	}
	i := 0
	for i < len(line) && i < 200 && (doc.InWord(doc.ByteClass[line[i]]) || strings.IndexByte("./-+@\\", line[i]) >= 0) {
		i++
	}
	if i < 3 || i+2 >= len(line) || line[i] != ':' && line[i] != '(' || doc.ByteClass[line[i+1]] != doc.Digit {
		return "", false
	}
	dot := strings.LastIndexByte(line[:i], '.')
	return line[i+1:], dot > 0 && dot < i-1 && doc.ByteClass[line[dot+1]] == doc.Lower
}

// FromCompiler reports whether a line is a compiler's message rather than a test's, which names a line,
// too. Compilers print a column or the word error.
func FromCompiler(line string) bool {
	rest, ok := afterPath(line)
	if !ok {
		return strings.HasPrefix(line, "error[E") || strings.HasPrefix(line, "[ERROR] ") && strings.Contains(line, ".java:[")
	}
	rest = strings.TrimLeft(rest, "0123456789")
	return len(rest) > 1 && (rest[0] == ':' || rest[0] == ',') && doc.ByteClass[rest[1]] == doc.Digit || strings.HasPrefix(rest, ": error:")
}

// passingBy reports whether a line is an intermediate location of a g++ error ("required from"), but not
// the original one, which is in the user's code.
func passingBy(line string) bool {
	_, how, ok := strings.Cut(line, "   required ")
	return ok && !strings.HasSuffix(how, "here")
}

// SuccessLine reports whether a line is the verdict of a run without failures.
func SuccessLine(line string) bool {
	if len(line) < 2 || len(line) > doc.LongestVerdict {
		return false
	}
	_, end, passes := strings.Cut(line, " pass")
	return passes && (strings.HasPrefix(end, "ed") || strings.HasPrefix(end, "ing")) || successStart(line) ||
		strings.HasSuffix(line, "BUILD SUCCESS") || strings.HasSuffix(line, ", 0 failures")
}

// successStart reports whether a line begins like a verdict of success.
func successStart(line string) bool {
	switch line[0] { // the first byte identifies most lines
	case 'P':
		return line == "PASS"
	case 'O':
		return line == "OK" || strings.HasPrefix(line, "OK (")
	case 'o':
		return strings.HasPrefix(line, "ok  \t")
	case 't':
		return strings.HasPrefix(line, "test result: ok")
	case '#':
		return strings.HasPrefix(line, "# fail 0")
	case 'R':
		return strings.HasPrefix(line, "Ran ")
	case 'f':
		return strings.HasPrefix(line, "found 0 vulnerabilities")
	case 'a':
		return strings.HasPrefix(line, "added ") && strings.Contains(line, " package")
	case 'B':
		return strings.HasPrefix(line, "BUILD SUCCESSFUL") || strings.HasPrefix(line, "Build succeeded")
	case 'S':
		return strings.HasPrefix(line, "Success: no issues") || strings.HasPrefix(line, "Successfully ")
	case 'w':
		return strings.HasPrefix(line, "webpack ") && strings.Contains(line, " compiled successfully")
	case ' ':
		return strings.HasPrefix(line, "    Finished ") // cargo
	case 0xe2:
		return strings.HasPrefix(line, "✓ built in ") || strings.HasPrefix(line, "ℹ fail 0")
	}
	return false
}
