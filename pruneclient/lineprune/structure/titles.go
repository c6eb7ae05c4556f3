package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// goRun is the form of the lines with which go test announces a test.
const goRun = "=== RUN"

// announcements begin lines that say what the following lines come from. Each has the name of its form.
var announcements = []struct{ prefix, style string }{
	{"diff --git ", "diff"}, {"Index: ", "diff"}, {"On branch ", "branch"}, {"::group::", "group"}, {"##[group]", "group"}, {"PLAY [", "play"},
	{"TASK [", "task"}, {"RUNNING HANDLER [", "task"}, {"> Task :", "task"}, {"PASS ", "tests"}, {"FAIL ", "tests"}, {"Step ", "step"}, {"$ ", "command"},
}

// Title reports whether a line is the title of the lines below it, and in which form:
//
//	=== x ===  --- x ---  ==> x <==  ____ x ____   rules on both sides
//	=== x      --- x      ## x       *** x         or on the left
//	[x]        commit 1a2b3c4...                   a section, a commit
//	diff --git a/x b/x    On branch x              and the other announcements
func Title(line string) (style string, ok bool) {
	if len(line) < 3 || len(line) > longestHead || doc.ByteClass[line[0]] == doc.Space {
		return "", false
	}
	switch c := line[0]; {
	case strings.IndexByte("=-*#_~>+", c) >= 0 && line[1] == c:
		return ruled(line)
	case strings.HasPrefix(line, "\u2500\u2500") || strings.HasPrefix(line, "\u2550\u2550"):
		return line[:3], strings.TrimLeft(line, line[:3]) != ""
	case strings.HasPrefix(line, "-[ RECORD "): // of psql
		return "-[", true
	case c == '[':
		return "[", isSection(line) && doc.Letter(line[1]) && !strings.Contains(line, " ")
	case c == 'c' && strings.HasPrefix(line, "commit "):
		hash, _, _ := strings.Cut(line[len("commit "):], " ")
		return "commit", doc.IsHash(hash)
	}
	for _, a := range announcements {
		if strings.HasPrefix(line, a.prefix) && len(line) > len(a.prefix) {
			return a.style, true
		}
	}
	return "", false
}

// ruled recognises a title by the rule on its left, and perhaps on its right. A go test's verdict looks like one, the
// options of a command and the added lines of a diff do, too.
func ruled(line string) (style string, ok bool) {
	text := strings.TrimLeft(line, line[:1])
	rule := len(line) - len(text)
	switch {
	case verdict(line):
		return "", false
	case strings.HasPrefix(line, goRun), strings.HasPrefix(line, "=== CONT"), strings.HasPrefix(line, "=== NAME"), strings.HasPrefix(line, "=== PAUSE"):
		return goRun, true
	case line[0] == '#':
		return line[:rule], strings.HasPrefix(text, " ") || strings.HasPrefix(text, "[")
	}
	text = strings.TrimPrefix(text, ">")
	name := strings.Trim(text, " \r"+line[:1]+"<")
	both := len(strings.TrimRight(text, " \r")) >= len(name)+3
	if name == "" || !strings.HasPrefix(text, " ") && !both || !doc.HasLetter(name) && strings.Trim(name, "0123456789 ./") != "" {
		return "", false
	}
	if both {
		return line[:1] + "both", true
	}
	return line[:1], rule >= 3 && strings.IndexByte("=-*_", line[0]) >= 0
}

// verdict reports whether a line says how one of go test's tests ended.
func verdict(text string) bool {
	return strings.HasPrefix(text, "--- PASS: ") || strings.HasPrefix(text, "--- FAIL: ") || strings.HasPrefix(text, "--- SKIP: ")
}

// longestHead is the length in bytes of the longest line that is a heading. A longer one says more than what it heads.
const longestHead = 240
