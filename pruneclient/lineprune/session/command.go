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

// trait is what a program does, whatever its arguments.
type trait uint8

const (
	Looks   trait = 1 << iota // it changes no file
	Prints                    // it prints files, or a part of what another one prints
	filters                   // it prints a part of what it reads, or the same in another order
	Silent                    // it prints nothing of its own to read
)

// programs are the shell commands whose traits are known.
var programs = map[string]trait{
	"cat": Looks | Prints | filters, "nl": Looks | Prints | filters, "head": Looks | Prints | filters, "tail": Looks | Prints | filters,
	"less": Looks | Prints | filters, "grep": Looks | Prints | filters, "rg": Looks | Prints | filters, "select-object": Looks | Prints | filters,
	"bat": Looks | Prints, "type": Looks | Prints, "get-content": Looks | Prints, "select-string": Looks | Prints, "sed": Prints | filters,
	"sort": Looks | filters, "uniq": Looks | filters, "cut": Looks | filters, "tr": Looks | filters, "column": Looks | filters, "awk": Looks | filters,
	"more": filters, "tac": filters, "egrep": filters, "sort-object": filters,
	"cd": Looks | Silent, "echo": Looks | Silent, "true": Looks | Silent, "pwd": Looks | Silent, "printf": Looks | Silent,
	"export": Looks | Silent, "set": Looks | Silent, "pushd": Looks | Silent, "popd": Looks | Silent, ":": Looks | Silent,
	"ls": Looks, "tree": Looks, "wc": Looks, "jq": Looks, "test": Looks, "[": Looks, "which": Looks, "file": Looks, "stat": Looks, "du": Looks, "df": Looks,
	"ps": Looks, "date": Looks, "diff": Looks, "cmp": Looks, "sleep": Looks, "find": Looks, "fd": Looks, "get-childitem": Looks, "dir": Looks,
	"pytest": Looks, "jest": Looks, "vitest": Looks, "mocha": Looks, "tsc": Looks, "eslint": Looks, "mypy": Looks, "journalctl": Looks,
}

// Has reports whether a program, by its name or path, is known to have a trait.
func Has(name string, t trait) bool { return programs[program([]string{name})]&t != 0 }
