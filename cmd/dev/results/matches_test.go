package results

import (
	"regexp"
	"strconv"
	"strings"
)

// match is one line that a search found.
type match struct {
	file string
	line int
	mark string // ":"; of a line of context "-"
	text string
}

// place names the match's line.
func (m match) place() string { return m.file + m.mark + strconv.Itoa(m.line) }

var (
	oneLine = regexp.MustCompile(`^([^\s:-][^:]*?)([:-])(\d+)[:-](.*)$`)         // Claude Code, Codex
	under   = regexp.MustCompile(`^\s*(?:Line )?L?(\d+): (.*)$`)                 // opencode, Gemini CLI
	fileOf  = regexp.MustCompile(`^(?:File: )?(/?[\w@.-]+(?:/[\w@.-]+)*):?\s*$`) // above the matches of a file
)

// matches returns the matches in a client's form of a search.
func matches(text string) (all []match) {
	file := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if m := oneLine.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[3])
			all = append(all, match{m[1], n, m[2], m[4]})
		} else if m := under.FindStringSubmatch(line); m != nil && file != "" {
			n, _ := strconv.Atoi(m[1])
			all = append(all, match{file, n, ":", m[2]})
		} else if m := fileOf.FindStringSubmatch(line); m != nil {
			file = strings.TrimPrefix(m[1], "/shop/")
		}
	}
	return all
}
