package session

import (
	"path"
	"strings"
)

// Pipelines splits a shell command into its pipelines, each a list of programs with their arguments, without quotes. It
// returns nil for a command that writes to a file, reads a text of its own, or runs another one inside.
func Pipelines(command string) (all [][][]string) {
	for _, harmless := range []string{"2>/dev/null", "2>&1", "2> /dev/null"} {
		command = strings.ReplaceAll(command, harmless, " ")
	}
	s := splitter{}
	for i := 0; i < len(command); i++ {
		if !s.byte(command, &i) {
			return nil
		}
	}
	s.endPipeline()
	return s.all
}

// splitter splits a command at its separators.
type splitter struct {
	all   [][][]string
	line  [][]string // the pipeline so far
	words []string   // the program so far
	word  strings.Builder
	open  bool // a word has begun; it may be empty
	quote byte
}

// byte reads the byte at *i. It returns false for what Pipelines does not split.
func (s *splitter) byte(command string, i *int) bool {
	c := command[*i]
	switch {
	case s.quote != '\'' && (c == '`' || c == '$' && strings.HasPrefix(command[*i+1:], "(")):
		return false
	case s.quote != 0 && c == s.quote:
		s.quote = 0
	case c == '\\' && s.quote != '\'':
		if *i++; *i < len(command) && command[*i] != '\n' {
			if s.quote == '"' && strings.IndexByte("\"\\$`", command[*i]) < 0 {
				s.add(c)
			}
			s.add(command[*i])
		}
	case s.quote != 0:
		s.add(c)
	case c == '\'' || c == '"':
		s.quote, s.open = c, true
	case c == '<' || c == '>':
		return false
	case c == '|' && !strings.HasPrefix(command[*i+1:], "|"):
		s.endProgram()
	case strings.IndexByte(";&|\n", c) >= 0:
		s.endPipeline()
	case c == ' ' || c == '\t' || c == '\r':
		s.endWord()
	default:
		s.add(c)
	}
	return true
}

func (s *splitter) add(c byte) {
	s.word.WriteByte(c)
	s.open = true
}

func (s *splitter) endWord() {
	if s.open {
		s.words = append(s.words, s.word.String())
	}
	s.word.Reset()
	s.open = false
}

func (s *splitter) endProgram() {
	s.endWord()
	if len(s.words) > 0 {
		s.line = append(s.line, s.words)
	}
	s.words = nil
}

func (s *splitter) endPipeline() {
	s.endProgram()
	if len(s.line) > 0 {
		s.all = append(s.all, s.line)
	}
	s.line = nil
}

// bare returns the words of a program without what only prepares it: assignments, "sudo", "time".
func bare(words []string) []string {
	for len(words) > 1 {
		name, _, assigned := strings.Cut(words[0], "=")
		if !prefixes[words[0]] && (!assigned || strings.ContainsAny(name, "/-")) {
			break
		}
		words = words[1:]
	}
	return words
}

var prefixes = map[string]bool{"sudo": true, "time": true, "env": true, "command": true, "nice": true}

// program returns the name of a program without its folder, in lower case, because PowerShell knows no case.
func program(words []string) string { return strings.ToLower(path.Base(words[0])) }

// silent are programs that print nothing of their own to read.
var silent = map[string]bool{"cd": true, "echo": true, "true": true, "pwd": true, "export": true, "set": true, "pushd": true, "popd": true, "printf": true, ":": true}
