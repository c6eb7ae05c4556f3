package results

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// doors are the ways by which a result reaches a model, in the order of the files' sections.
var doors = []string{"hook", "server", "proxy", "prune"}

// Sample is one file: a result of a client's tool, and what each door leaves of it.
type Sample struct {
	name, file string
	archive    *txtar.Archive

	client, tool string
	args         map[string]any
	prompt       string // the user's message
	words        string // the agent's words before the call
	question     string // for the doors that take one; the words if the file has none
	exit         int    // exit status of a command
	first        int    // number of the first line of a read
	wants        []string
	heads        []heads
	as           string // another file, whose result this is too
	text         string // the result
	written      string // a file, and below it the text that the agent wrote into it before the call (Claude Code)
	warning      string // what a compiler may print among the lines; {n} is a number
}

// heads says which lines are headings, and which of the lines below them must not stand without one.
type heads struct{ heading, row *regexp.Regexp }

// Read reads a folder of files.
func Read(folder string) (all []*Sample, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for _, file := range files {
		s, err := parse(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all, texts[s.name] = append(all, s), s.text
	}
	for _, s := range all {
		if s.as != "" {
			s.text = texts[s.as]
		}
		if s.text == "" {
			return nil, fmt.Errorf("%s: no result", s.file)
		}
	}
	return all, nil
}

func parse(file string) (*Sample, error) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		return nil, err
	}
	s := &Sample{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive, first: 1, prompt: "Find out what I asked for."}
	for _, f := range archive.Files {
		switch f.Name {
		case "case":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				if err := s.set(line); err != nil {
					return nil, fmt.Errorf("%s: %w", line, err)
				}
			}
		case "result":
			s.text = expand(string(f.Data))
		case "written":
			s.written = expand(string(f.Data))
		case "warning":
			s.warning = string(f.Data)
		case "hook", "server", "proxy", "prune", "left":
		default:
			return nil, fmt.Errorf("unknown section %q", f.Name)
		}
	}
	if s.question == "" {
		s.question = s.words
	}
	return s, nil
}

// about is the file's comment.
func (s *Sample) about() string { return strings.TrimSpace(string(s.archive.Comment)) }

// set reads one line of the section case.
func (s *Sample) set(line string) (err error) {
	key, value, _ := strings.Cut(line, ": ")
	switch key {
	case "client":
		s.client = value
	case "tool":
		s.tool = value
	case "args":
		err = json.Unmarshal([]byte(value), &s.args)
	case "prompt":
		s.prompt = value
	case "words":
		s.words = value
	case "question":
		s.question = value
	case "exit":
		s.exit, err = strconv.Atoi(value)
	case "first":
		s.first, err = strconv.Atoi(value)
	case "as":
		s.as = value
	case "want":
		s.wants = append(s.wants, value)
	case "heading":
		re, err := regexp.Compile(value)
		s.heads = append(s.heads, heads{heading: re})
		return err
	case "row":
		if len(s.heads) == 0 {
			return fmt.Errorf("a row without a heading")
		}
		s.heads[len(s.heads)-1].row, err = regexp.Compile(value)
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return err
}

// call is the call as the clients' doors see it.
func (s *Sample) call() history.ToolCall { return history.ParseCall(s.tool, s.args) }

var (
	repeats  = regexp.MustCompile(`^@repeat (\d+) (\d+)$`)
	returned = strings.NewReplacer("\\r", "\r")
)

// expand writes the lines between "@repeat FROM TO" and "@end" once for each number, with {n} replaced, and lines
// after "@cr" with \r as a carriage return.
func expand(text string) string {
	var out strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		m := repeats.FindStringSubmatch(strings.TrimSuffix(lines[i], "\n"))
		if m == nil {
			if after, ok := strings.CutPrefix(lines[i], "@cr "); ok {
				lines[i] = returned.Replace(after)
			}
			out.WriteString(lines[i])
			continue
		}
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		var body strings.Builder
		for i++; i < len(lines) && lines[i] != "@end\n"; i++ {
			body.WriteString(lines[i])
		}
		for n := from; n <= to; n++ {
			out.WriteString(strings.ReplaceAll(body.String(), "{n}", strconv.Itoa(n)))
		}
	}
	return out.String()
}

// golden returns what the file says a door leaves.
func (s *Sample) golden(door string) string {
	for _, f := range s.archive.Files {
		if f.Name == door {
			return string(f.Data)
		}
	}
	return ""
}
