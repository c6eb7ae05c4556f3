package results

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"mcp-pruner/pruneclient/history"
)

const folder = "../../../../testdata/results"

// doors are the ways by which a result reaches a model, in the order of the files' sections.
var doors = []string{"hook", "server", "proxy", "prune"}

// sample is one file: a result of a client's tool, and what each door leaves of it.
type sample struct {
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
}

// heads says which lines are headings, and which of the lines below them must not stand without one.
type heads struct{ heading, row *regexp.Regexp }

func samples(t *testing.T) (all []*sample) {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.txtar")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, file := range files {
		s := parse(t, file)
		all, texts[s.name] = append(all, s), s.text
	}
	for _, s := range all {
		if s.as != "" {
			s.text = texts[s.as]
		}
		require.NotEmpty(t, s.text, s.name)
		for _, want := range s.wants {
			require.Contains(t, s.text, want, s.name)
		}
	}
	return all
}

func parse(t *testing.T, file string) *sample {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	s := &sample{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), file: file, archive: archive, first: 1, prompt: "Find out what I asked for."}
	for _, f := range archive.Files {
		switch f.Name {
		case "case":
			for _, line := range strings.Split(strings.TrimSpace(string(f.Data)), "\n") {
				require.NoError(t, s.set(line), "%s: %s", s.name, line)
			}
		case "result":
			s.text = expand(string(f.Data))
		case "hook", "server", "proxy", "prune":
		default:
			t.Fatalf("%s: unknown section %q", s.name, f.Name)
		}
	}
	if s.question == "" {
		s.question = s.words
	}
	require.NotEmpty(t, s.about(), "%s: the comment says what the file shows", s.name)
	require.NotEmpty(t, s.wants, s.name)
	return s
}

// about is the file's comment.
func (s *sample) about() string { return strings.TrimSpace(string(s.archive.Comment)) }

// set reads one line of the section case.
func (s *sample) set(line string) (err error) {
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
func (s *sample) call() history.Call { return history.ParseCall(s.tool, s.args) }

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

// save writes what the doors left into the file.
func (s *sample) save(t *testing.T, left map[string]string) {
	t.Helper()
	files := make([]txtar.File, 0, len(s.archive.Files))
	for _, f := range s.archive.Files {
		if f.Name == "case" || f.Name == "result" {
			files = append(files, f)
		}
	}
	for _, door := range doors {
		files = append(files, txtar.File{Name: door, Data: []byte(left[door])})
	}
	s.archive.Files = files
	require.NoError(t, os.WriteFile(s.file, txtar.Format(s.archive), 0o644))
}

// golden returns what the file says a door leaves.
func (s *sample) golden(door string) string {
	for _, f := range s.archive.Files {
		if f.Name == door {
			return string(f.Data)
		}
	}
	return ""
}
