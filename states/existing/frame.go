package existing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// A client writes words of its own around the output of a tool: fences that mark it as untrusted, the exit status, what
// was left out of it. They are not the tool's, a question never asks for them, and they have no meaning one without the
// other. So they are no lines of a body: its head and its tail always stay.

// words match what a client writes, and are only compiled for a text that has some of them.
type words struct {
	some []string // one of these is in every text that the expression matches; a head begins with one
	expr func() *regexp.Regexp
}

func clientWords(expr string, some ...string) words {
	return words{some, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (w words) head(text string) string {
	if slices.ContainsFunc(w.some, func(some string) bool { return strings.HasPrefix(text, some) }) {
		return w.expr().FindString(text)
	}
	return ""
}

// tail returns the place at which the words begin that end a text, or -1.
func (w words) tail(text string) int {
	if slices.ContainsFunc(w.some, func(some string) bool { return strings.Contains(text, some) }) {
		if at := w.expr().FindStringIndex(text); at != nil {
			return at[0]
		}
	}
	return -1
}

// heads match what a client writes before an output.
var heads = []words{
	clientWords(agent.CodexHead, "Command: ", "Chunk ID: ", "Wall time: ", "Exit code: ", "Original token count: ", "Total output lines: ", "Process exited ", "Process running "),
	// Gemini CLI: what was run, in older versions, and what is missing of a file.
	clientWords(`\ACommand: [^\n]*\nDirectory: [^\n]*\n(?:Output|Stdout): `, "Command: "),
	clientWords(`\AIMPORTANT: The file content has been truncated\.\n(?s:.{0,1000}?)\n--- FILE CONTENT \(truncated\) ---\n`, "IMPORTANT: The file "),
	// Qwen Code: the part of a file; Cline: the status.
	clientWords(`\AShowing lines \d+-\d+ of \d+ total lines\.\n\n---\n\n`, "Showing lines "),
	clientWords(`\A\[Command exited with code \d+\]\n`, "[Command exited "),
	// Searches of opencode and Gemini CLI.
	clientWords(`\AFound \d+ (?:match|file)[^\n]*\n(?:---\n)?`, "Found "),
}

// tails match what a client writes after an output.
var tails = []words{
	clientWords(`\n*<system-reminder>\n(?:[^<]|<[^/]|</[^s])*</system-reminder>\s*\z`, "</system-reminder>"),
	clientWords(`\n*<bash_metadata>\n(?:[^<]|<[^/]|</[^b])*</bash_metadata>\s*\z`, "</bash_metadata>"),
	clientWords(`\n*\((?:End of file|Showing lines|Output (?:truncated|capped)|Results? (?:is|are) truncated|File has more lines)[^\n]*\)\s*\z`,
		"(End of file", "(Showing lines", "(Output ", "(Result", "(File has more lines"),
	clientWords(`\n*\[Showing results with pagination[^\n]*\]\s*\z`, "[Showing results with pagination"),
	// Copilot CLI and pi: status, then what is missing.
	clientWords(`\n*<shellId: \d+ completed with exit code -?\d+>\s*\z`, "<shellId: "),
	clientWords(`\n*\[(?:Showing lines \d|\d+ more lines in file\. )[^\n]*\]\s*\z`, "[Showing lines ", " more lines in file. "),
	clientWords(`\n*Command (?:exited with code -?\d+|aborted|timed out after [^\n]*)\s*\z`, "Command exited ", "Command aborted", "Command timed out "),
	// Gemini CLI: status, signal and processes, then the end of the fence.
	clientWords(`(?:\n(?:Error|Stderr|Exit Code|Signal|Background PIDs|Process Group PGID): [^\n]*)*\n(?:Background PIDs|Process Group PGID): [^\n]*\s*\z`,
		"\nBackground PIDs: ", "\nProcess Group PGID: "),
}

// fencedHead matches the word that Gemini CLI writes between its fence and an output. Elsewhere it is a word of the output.
var fencedHead = clientWords(`\AOutput: `, "Output: ")

// searchTail ends a search of Gemini CLI.
var searchTail = clientWords(`\n---\s*\z`, "\n---")

// fence matches a first line that is one opening tag, as in "<output>".
var fence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A<([a-zA-Z_][\w-]*)>\n`) })

// notice matches a line in which a client says that it has left out a part of an output.
var notice = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^[\s.…\[(<]*(?:output truncated\b|\d[\d,]* (?:lines|characters|chars|tokens|bytes) (?:were )?(?:truncated|omitted)\b)`)
})

// notices adds the client's own lines to the kept ones.
func (b Body) notices(kept []int) []int {
	for i, line := range b.Lines {
		if len(line) < 200 && strings.Contains(line, "ted") && notice().MatchString(line) && !slices.Contains(kept, i+1) {
			kept = append(kept, i+1)
		}
	}
	slices.Sort(kept)
	return kept
}

// WithStatus puts the exit status of a command before its output, in Codex' words, for clients that give a hook the output
// alone.
func WithStatus(status int, output string) string {
	return fmt.Sprintf("Process exited with code %d\nOutput:\n%s", status, output)
}

// maxFrame is the number of bytes at the beginning and at the end of an output in which a client's words are sought.
const maxFrame = 4096

// framed divides an output into the client's words before it, the output and the client's words after it. The three
// together are the text.
func framed(text string) (head, output, tail string) {
	output = text
	for {
		before, rest, after := peeled(output, head)
		if before == "" && after == "" || strings.TrimSpace(rest) == "" {
			return head, output, tail
		}
		head, output, tail = head+before, rest, after+tail
	}
}

// peeled takes one fence, or one head and one tail, off an output. outside is the head that has been taken off already.
func peeled(text, outside string) (head, output, tail string) {
	start := text[:min(len(text), maxFrame)]
	if strings.HasPrefix(start, "<") {
		if m := fence().FindStringSubmatch(start); m != nil {
			end := "\n</" + m[1] + ">"
			if at := strings.LastIndex(text, end); at >= len(m[0]) && strings.TrimSpace(text[at+len(end):]) == "" {
				return m[0], text[len(m[0]):at], text[at:]
			}
		}
	}
	first := heads
	if strings.HasSuffix(outside, "<untrusted_context>\n") {
		first = append(slices.Clone(first), fencedHead)
	}
	for _, h := range first {
		if head = h.head(start); head != "" {
			break
		}
	}
	output = text[len(head):]
	last := tails
	if strings.Contains(outside+head, "---\n") {
		last = append(slices.Clone(last), searchTail)
	}
	from := max(len(output)-maxFrame, 0)
	for _, t := range last {
		if at := t.tail(output[from:]); at >= 0 {
			return head, output[:from+at], output[from+at:]
		}
	}
	return head, output, ""
}
