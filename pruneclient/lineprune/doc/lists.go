package doc

import (
	"embed"
	"strconv"
	"strings"
	"sync"
)

// lists are the word lists, a file per language or subject.
//
//go:embed lists
var lists embed.FS

// readLists holds the lines of the files that have been read, because most files have many sections.
var readLists = struct {
	sync.Mutex
	lines map[string][]string
}{lines: map[string][]string{}}

// List returns the content of a list file without its comments. It must not be changed.
func List(name string) []string {
	readLists.Lock()
	defer readLists.Unlock()
	lines, ok := readLists.lines[name]
	if !ok {
		lines = linesOf(name)
		readLists.lines[name] = lines
	}
	return lines
}

func linesOf(name string) []string {
	data, err := lists.ReadFile("lists/" + name + ".txt")
	if err != nil {
		panic(err) // the lists are embedded, so that an error is a bug
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}

// ListLines returns the lines of one section of a file. It panics if the section does not exist.
func ListLines(file, section string) []string {
	var lines []string
	here := false
	for _, line := range List(file) {
		switch {
		case line[0] == '[':
			here = line == "["+section+"]"
		case here:
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		panic("no list " + section + " in " + file)
	}
	return lines
}

// ListWords returns the words of one section of a file.
func ListWords(file, section string) []string {
	return strings.Fields(strings.Join(ListLines(file, section), " "))
}

// ListParts returns a section of word parts, one per line and quoted, because spaces count.
func ListParts(file, section string) []string {
	lines := ListLines(file, section)
	for i, line := range lines {
		lines[i] = Unquoted(line)
	}
	return lines
}

func Unquoted(s string) string {
	plain, err := strconv.Unquote(s)
	if err != nil {
		panic(err) // the lists are embedded, so that an error is a bug
	}
	return plain
}

// ListNumber parses a list line of a weight and a text.
func ListNumber(line string) (weight float64, rest string) {
	first, rest, _ := strings.Cut(line, " ")
	weight, err := strconv.ParseFloat(first, 64)
	if err != nil {
		panic(err) // the lists are embedded, so that an error is a bug
	}
	return weight, rest
}

// ListSet returns the words of one section of a file as a set.
func ListSet(file, section string) map[string]bool {
	out := map[string]bool{}
	for _, w := range ListWords(file, section) {
		out[w] = true
	}
	return out
}
