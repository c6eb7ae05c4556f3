package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// LogShape reports whether a line looks like a program's log output: it has a time, a level, a test's name
// or verdict, or a place in a file.
func LogShape(text string) bool {
	if timestamped(text) || FrontEnd(text) > 0 || harmless(text) && !strings.HasPrefix(text, "=== ") || Verdict(text) || FailingTest(text) || Warns(text) || diagnostic(text) || titledRule(text) {
		return true
	}
	if beginsWith(text, []string{"=== RUN", "=== CONT", "--- FAIL", "FAIL", "Traceback (", "npm ", "make", "gcc ", "cc ", "not ok ", "goroutine ",
		"[INFO]", "[ERROR]", "[WARN", "[DEBUG]", "INFO ", "WARN ", "ERROR ", "DEBUG ", "at ", "File \"", "Compiling ", "Downloading ", "error[", "error:", "warning:", "> Task :",
		"TASK [", "PLAY [", "ok: [", "changed: [", "fatal: ["}) {
		return true
	}
	return strings.Contains(text, ") = ") && !strings.HasSuffix(text, "{") && !strings.HasSuffix(text, ";") || // a system call in the output of strace
		strings.HasPrefix(text, "commit ") && len(text) >= 47 ||
		strings.HasSuffix(text, "... FAIL") || strings.HasSuffix(text, "... ERROR") || strings.HasSuffix(text, "%]") ||
		strings.Contains(text, ") ... ") || buildStep(text)
}

// buildStep reports whether a line looks like "#8 2.1 text", as docker build prints.
func buildStep(text string) bool {
	number, rest, _ := strings.Cut(text, " ")
	return len(number) > 1 && number[0] == '#' && strings.Trim(number[1:], "0123456789") == "" && rest != ""
}

// timestamped reports whether a line's first bytes contain a date or a time of day.
func timestamped(text string) bool {
	text = text[:min(len(text), 40)]
	for i := 0; i+4 < len(text); i++ {
		if doc.ByteClass[text[i]] != doc.Digit || doc.ByteClass[text[i+1]] != doc.Digit {
			continue
		}
		sep := text[i+2]
		if (sep == ':' || sep == '-' || sep == '/') && doc.ByteClass[text[i+3]] == doc.Digit && doc.ByteClass[text[i+4]] == doc.Digit {
			return true
		}
	}
	return false
}
