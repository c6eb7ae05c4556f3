package structure

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// TakeFronts removes the prefix that a CI service, docker, kubectl or syslog added to each line of a log,
// because log lines are classified by how they begin. The question's terms are still matched against the
// whole line.
func TakeFronts(d *doc.Document) {
	bare := make([]string, 0, len(d.Lines))
	lines, have := 0, 0
	for i, line := range d.Lines {
		end := FrontEnd(line)
		bare = append(bare, line[end:])
		if !d.Blank(i) {
			lines++
		}
		if end > 0 {
			have++
		}
		if (i == doc.FrontSample || i == len(d.Lines)-1) && have*100 < lines*doc.FrontedPercent {
			return
		}
	}
	d.Trim(dedented(bare))
}

// dedented removes the spaces that all lines begin with: some services put more than one behind the time.
func dedented(lines []string) []string {
	least := -1
	for _, line := range lines {
		if at := doc.FirstVisible(line); strings.TrimSpace(line) != "" && (least < 0 || at < least) {
			least = at
		}
	}
	if least > 0 {
		for i, line := range lines {
			lines[i] = line[min(least, len(line)):]
		}
	}
	return lines
}

// FrontEnd returns the byte offset at which a line's own text begins after an added prefix, or 0 if there
// is none:
//
//	2026-01-02T03:04:05.678Z text      CI services, docker logs -t
//	2026-01-02T03:04:05.678Z 01O text  GitLab
//	2026-01-02 03:04:05 text           the same without a zone
//	03:04:05 text                      Jenkins, ts
//	job TAB step TAB 2026-01-0...Z text  gh run view --log
//	[2026-01-02T03:04:05.678Z] text    Jenkins, and the forms above
//	#7 12.34 text                      docker build
//	api-1  | text                      docker compose
//	[pod/api-7d4/main] text            kubectl logs --prefix
//	Jan  2 03:04:05 host prog[1]: text syslog, journalctl
func FrontEnd(line string) int {
	if line == "" {
		return 0
	}
	switch c := doc.ByteClass[line[0]]; {
	case line[0] == '[':
		return bracketEnd(line)
	case line[0] == '#':
		return buildEnd(line)
	case c == doc.Digit:
		return streamEnd(line, afterSpace(line, timeEnd(line)))
	case c == doc.Upper && len(line) > 16 && line[3] == ' ' && line[6] == ' ':
		if end := syslogEnd(line); end > 0 {
			return end
		}
	}
	if end := composeEnd(line); end > 0 {
		return end
	}
	return stepEnd(line)
}

// stepEnd returns the end of a prefix like "job TAB step TAB 2026-01-02T03:04:05.678Z ", or 0.
func stepEnd(line string) int {
	const longest = 256
	job := strings.IndexByte(line[:min(len(line), longest)], '\t')
	if job < 0 {
		return 0
	}
	step := strings.IndexByte(line[job+1:min(len(line), longest)], '\t')
	if step < 0 {
		return 0
	}
	at := job + 1 + step + 1
	text := strings.TrimPrefix(line[at:], "\ufeff") // GitHub starts each step's log with a byte order mark
	at = len(line) - len(text)
	if end := instantEnd(text); end > 0 {
		return afterSpace(line, at+end)
	}
	return 0
}

// afterSpace returns the offset after the single space at end, or 0 if there is none.
func afterSpace(line string, end int) int {
	switch {
	case end == 0 || end < len(line) && line[end] != ' ':
		return 0
	case end == len(line): // an empty line whose trailing space was trimmed
		return end
	}
	return end + 1
}

// instantEnd returns the end of an ISO 8601 time with a zone at the start of text, or 0.
func instantEnd(text string) int {
	const layout = "0000-00-00T00:00:00"
	if len(text) <= len(layout) || !shaped(text, layout) {
		return 0
	}
	end := len(layout)
	if text[end] == '.' {
		end = fractionEnd(text, end)
	}
	switch {
	case end < len(text) && text[end] == 'Z':
		return end + 1
	case end+6 <= len(text) && (text[end] == '+' || text[end] == '-') && text[end+3] == ':':
		return end + 6
	}
	return 0
}

// timeEnd returns the end of a date with a time, or of a time of day, at the start of text, or 0.
func timeEnd(text string) int {
	if end := instantEnd(text); end > 0 {
		return end
	}
	const date, clock = "0000-00-00", "00:00:00"
	at := 0
	if shaped(text, date) && len(text) > len(date) && (text[len(date)] == 'T' || text[len(date)] == ' ') {
		at = len(date) + 1
	}
	if !shaped(text[at:], clock) {
		return 0
	}
	return fractionEnd(text, at+len(clock))
}

// shaped reports whether text begins as layout does, in which 0 stands for any digit.
func shaped(text, layout string) bool {
	if len(text) < len(layout) {
		return false
	}
	for i := range len(layout) {
		if layout[i] == '0' && doc.ByteClass[text[i]] != doc.Digit || layout[i] != '0' && text[i] != layout[i] {
			return false
		}
	}
	return true
}

// fractionEnd returns the end of the fraction of a second that may follow a time.
func fractionEnd(text string, end int) int {
	if end < len(text) && (text[end] == '.' || text[end] == ',') {
		for end++; end < len(text) && doc.ByteClass[text[end]] == doc.Digit; end++ {
		}
	}
	return end
}

// streamEnd returns the end of the number and letter of a stream that GitLab puts behind the time, such as "01O " or, where a
// long line goes on, "01O+".
func streamEnd(line string, end int) int {
	if rest := line[end:]; end > 0 && shaped(rest, "00") && len(rest) > 2 && (rest[2] == 'O' || rest[2] == 'E') {
		switch {
		case len(rest) == 3:
			return len(line)
		case rest[3] == ' ' || rest[3] == '+':
			return end + 4
		}
	}
	return end
}

// buildEnd returns the end of "#7 12.34 ", or 0.
func buildEnd(line string) int {
	step := 1
	for step < len(line) && doc.ByteClass[line[step]] == doc.Digit {
		step++
	}
	if step == 1 || step == len(line) || line[step] != ' ' {
		return 0
	}
	end := step + 1
	for end < len(line) && doc.ByteClass[line[end]] == doc.Digit {
		end++
	}
	if end == step+1 || end == len(line) || line[end] != '.' {
		return 0
	}
	return afterSpace(line, fractionEnd(line, end))
}

// bracketEnd returns the end of "[03:04:05] " or "[pod/api-7d4/main] ", or 0.
func bracketEnd(line string) int {
	end := strings.IndexByte(line, ']')
	if end < 2 || !strings.HasPrefix(line, "[pod/") && timeEnd(line[1:]) != end-1 {
		return 0
	}
	return afterSpace(line, end+1)
}

// syslogEnd returns the end of a prefix like "Jan 2 03:04:05 host prog[1]: ", or 0.
func syslogEnd(line string) int {
	if line[9] != ':' || line[12] != ':' || line[15] != ' ' || doc.ByteClass[line[5]] != doc.Digit || doc.ByteClass[line[14]] != doc.Digit {
		return 0
	}
	host := strings.IndexByte(line[16:], ' ')
	if host <= 0 {
		return 0
	}
	prog := strings.IndexByte(line[16+host+1:], ' ')
	end := 16 + host + 1 + prog
	if prog < 0 {
		end = len(line)
	}
	if line[end-1] != ':' {
		return 0
	}
	return afterSpace(line, end)
}

// composeEnd returns the end of a prefix like "api-1 | ", or 0.
func composeEnd(line string) int {
	const longest = 64
	i := 0
	for i < len(line) && i < longest && (doc.InWord(doc.ByteClass[line[i]]) || line[i] == '-' || line[i] == '.') {
		i++
	}
	bar := i
	for bar < len(line) && line[bar] == ' ' {
		bar++
	}
	if i == 0 || bar < i+2 || bar == len(line) || line[bar] != '|' { // with one space it is an expression such as a | b
		return 0
	}
	return afterSpace(line, bar+1)
}
