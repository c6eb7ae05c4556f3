package structure

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// LooksLikeDiff reports whether a text is a diff or a patch, possibly with commit messages. By default
// diffs are not pruned, because a patch loses its meaning when lines are missing.
func LooksLikeDiff(d *doc.Document) bool {
	files, hunks, inside, lines := false, false, false, 0
	for _, line := range d.Lines {
		first := byte(' ') // a blank context line may have lost its leading space
		if line != "" {
			first = line[0]
		}
		switch {
		case first == '@' && isHunk(line):
			hunks, inside = true, true
		case first == 'd' && (strings.HasPrefix(line, "diff --git ") || strings.HasPrefix(line, "diff --cc ")), first == '+' && strings.HasPrefix(line, "+++ "),
			first == 'I' && strings.HasPrefix(line, "Index: "):
			files, inside = true, true
		case inside:
			inside = strings.IndexByte(` +-\`, first) >= 0
		}
		if inside {
			lines++
		}
	}
	return hunks && files && float64(lines) >= doc.DiffShare*float64(len(d.Lines))
}

// isHunk reports whether a line begins a hunk: "@@ -1,2 +1,3 @@", or of a merge "@@@ -1,2 -1,2 +1,6 @@@".
func isHunk(line string) bool {
	rest := strings.TrimLeft(line, "@")
	return len(line)-len(rest) >= 2 && strings.HasPrefix(rest, " -") && strings.Contains(rest, " @@")
}

// HasConflict reports whether a text has a part in which git marked a conflict, or the beginning or the end of one: a side
// of it says nothing without the other, and an agent that resolves it must see all of them.
func HasConflict(d *doc.Document) bool {
	before := byte(0)
	for _, line := range d.Lines {
		mark := conflictMark(line)
		if before == '<' && mark == '=' || before == '=' && mark == '>' {
			return true
		}
		if mark != 0 {
			before = mark
		}
	}
	return false
}

// conflictMark returns the character of a line that is a mark of a conflict, else 0. In a diff or among numbered lines other
// characters stand before it.
func conflictMark(line string) byte {
	const length = 7
	line = strings.TrimLeft(line, "0123456789 \t+-:|\u2192")
	if len(line) < length || strings.IndexByte("<=>", line[0]) < 0 || strings.Trim(line[:length], line[:1]) != "" {
		return 0
	}
	rest := strings.TrimSuffix(line[length:], "\r")
	if line[0] == '=' && rest == "" || line[0] != '=' && (strings.HasPrefix(rest, " ") && len(rest) > 1) {
		return line[0]
	}
	return 0
}

// KindOf returns the kind of a text, from the hints if possible, else from the lines. A kind that the caller
// gives stands, except that a list of matches is recognised even where the caller says code.
func KindOf(d *doc.Document, kind doc.Kind, file, command string) doc.Kind {
	if kind == doc.Code && namesPlaces(d) {
		return doc.Grep
	}
	if kind != doc.Auto {
		return kind
	}
	if k := doc.KindOfFile(file); k != doc.Auto {
		return k
	}
	if ListsPaths(d) {
		return doc.Grep
	}
	if command != "" {
		return kindOfOutput(d, command)
	}
	if looksLikeGrep(d) {
		return doc.Grep
	}
	return kindOfText(d)
}

// kindOfOutput returns the kind of a command's output: the file's kind if the command only prints a file, a
// list of matches for search tools, otherwise most likely a log.
func kindOfOutput(d *doc.Document, command string) doc.Kind {
	words := withoutSetting(strings.Fields(command))
	if len(words) == 0 {
		return kindOfText(d)
	}
	switch tool := path.Base(words[0]); tool {
	case "cat", "head", "tail", "sed", "less", "more", "bat", "nl", "awk":
		if k := doc.KindOfFile(strings.Trim(words[len(words)-1], `"'`)); k != doc.Auto {
			return k
		}
		return kindOfText(d)
	case "grep", "rg", "ag", "ack", "egrep":
		if looksLikeGrep(d) {
			return doc.Grep
		}
	case "man", "info":
		return doc.Docs
	case "git":
		if len(words) > 1 && words[1] == "grep" && looksLikeGrep(d) {
			return doc.Grep
		}
		if len(words) > 1 && words[1] == "show" && strings.Contains(words[len(words)-1], ":") {
			if k := doc.KindOfFile(words[len(words)-1]); k != doc.Auto {
				return k
			}
			return kindOfText(d)
		}
	}
	return doc.Logs
}

// withoutSetting removes the parts that only prepare a command: "cd dir &&" and variable assignments.
func withoutSetting(words []string) []string {
	for len(words) > 0 {
		name, _, assigned := strings.Cut(words[0], "=")
		switch {
		case words[0] == "cd":
			for len(words) > 0 && words[0] != "&&" && !strings.HasSuffix(words[0], ";") {
				words = words[1:]
			}
			words = words[min(1, len(words)):]
		case assigned && !strings.ContainsAny(name, "/-"):
			words = words[1:]
		default:
			return words
		}
	}
	return words
}

// looksLikeGrep reports whether a text is a list of matches, each with the name of its file or below it.
func looksLikeGrep(d *doc.Document) bool { return namesPlaces(d) || namesFiles(d) }

// namesFiles reports whether a text is a list of matches below the names of their files. Linters print such lists, too,
// but with a column and two spaces before their message.
func namesFiles(d *doc.Document) bool {
	h := doc.ReadHeaded(d, grepSample)
	if !h.Sure() {
		return false
	}
	texts, messages := h.Texts(d), 0
	for _, text := range texts {
		if after := strings.TrimLeft(text, "0123456789"); isMessage(text) || after != text && strings.HasPrefix(after, "  ") {
			messages++
		}
	}
	return messages*2 <= len(texts)
}

// grepSample is the number of lines that decide whether a text is a list of matches.
const grepSample = 200

// namesPlaces reports whether nearly all lines start with a place, and more than one does. Only context
// lines separate the fields by dashes, and such a line may also start with a date. Compilers print places,
// too, but follow them with a message.
func namesPlaces(d *doc.Document) bool {
	seen, match, colons, messages := 0, 0, 0, 0
	for _, line := range d.Lines[:min(len(d.Lines), grepSample)] {
		if line == "" || line == "--" {
			continue
		}
		seen++
		if path, rest, ok := doc.GrepLine(line); ok {
			match++
			if line[len(path)] == ':' {
				colons++
			}
			if isMessage(rest) {
				messages++
			}
		}
	}
	return seen > 2 && colons > 0 && messages*2 <= match && match*10 >= seen*9
}

// ListsPaths reports whether a text is a plain list of paths, as find, rg -l and rg -c print. A build may
// print a list of files as well, but ends with other lines.
func ListsPaths(d *doc.Document) bool {
	paths, others := 0, 0 // others: names such as LICENSE and Makefile, with neither a dot nor a slash
	for _, line := range d.Lines {
		switch {
		case line == "":
		case barePath(line):
			paths++
		case strings.ContainsAny(line, " \t=:{\"") || Signal(line) > 0:
			return false
		default:
			others++
		}
	}
	return paths > doc.FewPaths && others*10 <= paths
}

// barePath reports whether a line is a path with a directory or an extension, or a path followed by a
// count.
func barePath(line string) bool {
	if len(line) > doc.LongestPath {
		return false
	}
	path := line
	if colon := strings.LastIndexByte(line, ':'); colon > 0 && strings.Trim(line[colon+1:], "0123456789") == "" {
		path = line[:colon]
	}
	return doc.PathShaped(path) && strings.ContainsAny(path, "./") && doc.ByteClass[path[len(path)-1]] != doc.OtherByte
}

// isMessage reports whether rest, the text after a place, is a compiler's message: optionally a column,
// then one space and a word. Search tools keep the indentation of the matched line instead.
func isMessage(rest string) bool {
	if after := strings.TrimLeft(rest, "0123456789"); after != rest {
		rest = strings.TrimPrefix(after, ":")
	}
	return len(rest) > 1 && rest[0] == ' ' && doc.Letter(rest[1])
}

// votes counts which kind the lines of a text look like.
type votes struct {
	code, docs, logs int
	lines, defs      int // lines: lines that voted; defs: definitions and imports among them

	failing, counted bool // a line names a failing test; a line says how many failed
}

// kindOfText samples lines from the beginning, middle and end of the text and counts the kind each looks
// like.
func kindOfText(d *doc.Document) doc.Kind {
	var v votes
	n, fence := len(d.Lines), ""
	for i := 0; i < n; i++ {
		if n > 3*doc.VoteSample && i == doc.VoteSample {
			i = n/2 - doc.VoteSample/2
		}
		if n > 3*doc.VoteSample && i == n/2+doc.VoteSample/2 {
			i = n - doc.VoteSample
		}
		if d.Blank(i) {
			continue
		}
		inside := fence
		fence = FenceAfter(fence, d.Lines[i])
		if inside == "" { // text quoted in a fenced block says nothing about the page's kind
			v.add(d, i, d.Lines[i][doc.FirstVisible(d.Lines[i]):])
		}
	}
	switch {
	case v.logs > v.code && v.logs >= v.docs, v.failing && v.counted:
		return doc.Logs
	case v.docs > v.code && v.defs*12 < v.lines: // long comments do not turn a program into a page
		return doc.Docs
	case v.lines >= doc.FewLines && v.code*5 < v.lines: // no vote for any kind: records of some sort
		return doc.Logs
	}
	return doc.Code
}

func (v *votes) add(d *doc.Document, i int, text string) {
	v.lines++
	v.failing = v.failing || NamesFailing(text)
	v.counted = v.counted || CountsFailing(text)
	switch {
	case LogShape(text):
		v.logs += 4
	case IsDefinition(text, d.Following(i)), IsImport(text):
		v.code += 4
		v.defs++
	case strings.HasPrefix(text, "```"):
		v.docs += 8
	case markdownHeading(text), Underline(d.Next(i)) && d.Indent[i] == 0, strings.HasPrefix(text, "- "), strings.HasPrefix(text, "* ") && d.Indent[i] == 0:
		v.docs += 4
	case strings.IndexByte("{}();,=:", lastVisible(text)) >= 0 || statement(text) || IsComment(text) && text[0] != '#' || text[0] == '<':
		v.code += 2
	case Signal(text) >= 0.7:
		v.logs += 2
	case lastVisible(text) != '.' && printedAgain(d, i):
		v.logs += 2
	case prose(text):
		v.docs += 2
	}
}

// printedAgain reports whether the statement that printed line i printed one of the two lines above it, too.
func printedAgain(d *doc.Document, i int) bool {
	for above := max(i-2, 0); above < i; above++ {
		if Template(d.Lines[above]) == Template(d.Lines[i]) {
			return true
		}
	}
	return false
}

// statement is true of assignments, and of lines that begin as code does.
func statement(text string) bool {
	first, rest := FirstWord(text)
	return NotCalls()[first] && !strings.HasSuffix(text, ".") || strings.Contains(text, " = ") || strings.Contains(text, " := ") ||
		first != "" && (strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ".")) && strings.IndexByte(text, ' ') != len(first)
}

func lastVisible(text string) byte {
	text = strings.TrimRight(text, " \t\r")
	return text[len(text)-1]
}

func markdownHeading(text string) bool {
	t := strings.TrimLeft(text, "#")
	if len(t) == len(text) || len(text)-len(t) > 6 || len(t) <= 2 || t[0] != ' ' {
		return false
	}
	first, _ := utf8.DecodeRuneInString(t[1:])
	return unicode.IsLetter(first) && !unicode.IsLower(first)
}

// prose is true of a line of several words that are not punctuated like code, or of
// many characters of a script without spaces.
func prose(text string) bool {
	if strings.ContainsAny(text, "{};=") {
		return false
	}
	if words := strings.Count(text, " ") + 1; words >= 6 && len(text) < words*12 {
		return true
	}
	n := 0
	for _, r := range text {
		if r >= utf8.RuneSelf && doc.Unspaced(r) {
			n++
		}
	}
	return n >= doc.SentenceRunes
}

// IsHistory reports whether a text is the output of git log, which starts with a commit. Commit messages
// mention failures that did not happen in this log.
func IsHistory(d *doc.Document) bool {
	commits, lines := 0, 0
	for i, line := range d.Lines {
		if d.Blank(i) {
			continue
		}
		name, long := strings.CutPrefix(line, "commit ")
		switch hash, _, _ := strings.Cut(name, " "); {
		case doc.IsHash(hash) && long:
			return i+1 < len(d.Lines) && (strings.HasPrefix(d.Lines[i+1], "Author: ") || strings.HasPrefix(d.Lines[i+1], "Merge: "))
		case doc.IsHash(hash):
			commits++
		case lines == 0:
			return false
		}
		lines++
	}
	return commits > 2 && commits*10 >= lines*9
}
