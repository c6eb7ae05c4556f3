// Package history derives from an agent's earlier messages and calls the input of a pruner: the question
// behind a tool call and the events before it. Transcripts, hooks, the proxy and MCP sessions all feed the
// same [Log].
package history

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Kind is the kind of a tool, independent of the client's name for it.
type Kind string

// The kinds of tools. All other tools are [Other].
const (
	Read  Kind = "read"
	Bash  Kind = "bash"
	Grep  Kind = "grep"
	Glob  Kind = "glob"
	Edit  Kind = "edit"
	Write Kind = "write"
	Other Kind = "other"
)

// ToolCall is one tool call in client-independent form.
type ToolCall struct {
	Kind Kind
	Tool string // the client's name of the tool

	File    string // read, edit, write
	Offset  int    // read: first line requested, 1-based; 0: from the start
	Limit   int    // read: number of lines requested; 0: all
	Command string // bash
	About   string // bash: the description given with the command
	Pattern string // grep, glob
	Path    string // grep, glob: the path searched
	Replace []Replacement

	Recovers bool // the call prints a text that was cut or cleared before

	args map[string]any // nil: edit, write
}

// Replacement is one replacement made by an edit, or a whole text written.
type Replacement struct {
	Old, New string
	File     string // of a patch, which may change several; "": the call's
}

// kinds maps the tool names of known clients and benchmarks, but for those of shells.
var kinds = map[string]Kind{
	"read": Read, "read_file": Read, "read_text_file": Read, "view": Read, "notebookread": Read, "read_files": Read,
	agent.CodexWaits: Bash,
	"grep":           Grep, "grep_search": Grep, "search_file_content": Grep, "search_codebase": Grep,
	"glob": Glob, "search_files": Glob, "list": Glob, "ls": Glob, "list_directory": Glob, "find_files": Glob,
	"edit": Edit, "multiedit": Edit, "edit_file": Edit, "replace": Edit, "str_replace": Edit, "apply_patch": Edit, "notebookedit": Edit, "editor": Edit,
	"write": Write, "write_file": Write, "create_file": Write, "create": Write,
}

// KindOf returns the kind of a tool by its name. For a tool of an MCP server, the part after the server's
// name counts only if the server is this program's.
func KindOf(tool string) Kind {
	name := strings.ToLower(tool)
	if strings.HasPrefix(name, "mcp__") {
		if !ofOwnServer(name) {
			return Other
		}
		_, name, _ = strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	}
	if kind, ok := kinds[name]; ok {
		return kind
	}
	if agent.IsShellTool(name) {
		return Bash
	}
	return Other
}

// ParseCall parses a call's arguments. It never fails; fields that it does not find stay empty.
func ParseCall(tool string, args map[string]any) ToolCall {
	c := ToolCall{Kind: KindOf(tool), Tool: tool}
	c.Recovers = recovers(tool, c.Kind, args)
	if c.Kind != Edit && c.Kind != Write {
		c.args = args
	}
	text := func(names ...string) string { return session.Text(args, names...) }
	switch c.Kind {
	case Read:
		c.File = text("file_path", "filePath", "path", "notebook_path", "absolute_path")
		c.Offset, c.Limit = number(args, "offset", "start_line"), number(args, "limit")
		end := number(args, "end_line")
		if tool == agent.QwenReads && number(args, "offset") > 0 {
			c.Offset++
		}
		if lines, _ := args["view_range"].([]any); len(lines) == 2 { // Copilot CLI; an end of -1 is that of the file
			ends := map[string]any{"from": lines[0], "to": lines[1]}
			c.Offset, end = number(ends, "from"), number(ends, "to")
		}
		if end > 0 && c.Limit == 0 {
			c.Limit = max(end-max(c.Offset, 1)+1, 1)
		}
	case Bash:
		c.Command, c.About = command(args), text("description", "justification")
		if tool == agent.CodexWaits && c.Command == "" { // the command goes on
			c.Kind = Other
		}
	case Grep, Glob:
		c.Pattern, c.Path = text("pattern", "query", "glob"), text("path", "dirPath", "dir_path")
	case Edit:
		c.File, c.Replace = text("file_path", "filePath", "path"), replacements(args)
		if patch := patchReplacements(text("input", "patchText", "patch")); len(patch) > 0 {
			c.File, c.Replace = patch[0].File, patch
		}
	case Write:
		c.File = text("file_path", "filePath", "path")
		c.Replace = []Replacement{{New: text("content", "contents", "file_text")}}
	}
	return c
}

// command returns a shell command, given as a string or as an argument vector such as "bash -lc COMMAND",
// whose last item counts.
func command(args map[string]any) string {
	if s := session.Text(args, "command", "cmd", "input"); s != "" {
		return s
	}
	list, _ := args["command"].([]any)
	words := make([]string, 0, len(list))
	for _, item := range list {
		word, _ := item.(string)
		words = append(words, word)
	}
	if len(words) == 3 && strings.HasPrefix(words[1], "-") {
		return words[2]
	}
	return strings.Join(words, " ")
}

func replacements(args map[string]any) []Replacement {
	var out []Replacement
	add := func(m map[string]any) {
		r := Replacement{
			Old: session.Text(m, "old_string", "oldString", "old_str", "oldText", "old_text"),
			New: session.Text(m, "new_string", "newString", "new_str", "newText", "new_text"),
		}
		if r != (Replacement{}) {
			out = append(out, r)
		}
	}
	add(args)
	list, _ := args["edits"].([]any)
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			add(m)
		}
	}
	return out
}

// Narrow reports whether a call shows a range of at most the given number of lines of one file.
func (c ToolCall) Narrow(lines int) bool {
	_, from, to := c.FileRead()
	return to > 0 && to-from < lines
}

// mostSubject is the number of bytes of Subject at most.
const mostSubject = 200

// Subject returns the beginning of what names the object of a call: its file, its pattern or its command.
func (c ToolCall) Subject() string {
	for _, s := range []string{c.File, c.Pattern, c.Command} {
		if s != "" {
			return strings.ToValidUTF8(s[:min(len(s), mostSubject)], "")
		}
	}
	return ""
}

// Same reports whether two paths, one of which may be relative, mean the same file.
func Same(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	a, b = clean(a), clean(b)
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

func clean(p string) string { return path.Clean(strings.ReplaceAll(p, `\`, "/")) }

// The parts of the commands that print one file. file is the name in a command, in quotes or not.
const (
	folder = `^\s*(?:cd\s+\S+\s*(?:&&|;)\s*)?`
	file   = `\s+['"]?([^\s'"|;&<>]+)['"]?`
	lines  = `['"]?(\d+),(\d+)p['"]?`
)

// sedRange matches a command that prints one range of lines of a file.
var sedRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bsed\s+-n\s+` + lines + file) })

// numberedRange matches a command that numbers a file's lines and prints one range of them.
var numberedRange = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(folder + `(?:cat|nl)(?:\s+-\w+)*` + file + `\s*\|\s*sed\s+-n\s+` + lines + `\s*$`)
})

// printed matches a command that prints a whole file or its beginning or end.
var printed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(folder + `(?:cat|head|tail|nl|less|bat|type|(?i:get-content))(?:\s+-[-\w=]+(?:\s+\d+)?)*` + file + `\s*(?:\|\s*head[^|;&]*)?$`)
})

// FileRead returns the file and range of lines that a call shows, if it shows a single file: a read, or a
// shell command that only prints it. to is 0 if there is no end.
func (c ToolCall) FileRead() (file string, from, to int) {
	switch {
	case c.Kind == Read && c.Limit > 0:
		from = max(c.Offset, 1)
		return c.File, from, min(from+c.Limit-1, lastLine)
	case c.Kind == Read:
		return c.File, max(c.Offset, 1), 0
	case c.Kind != Bash:
		return "", 0, 0
	}
	if m := numberedRange().FindStringSubmatch(c.Command); m != nil {
		return m[1], lineOf(m[2]), lineOf(m[3])
	}
	if m := sedRange().FindStringSubmatch(c.Command); m != nil {
		return m[3], lineOf(m[1]), lineOf(m[2])
	}
	if m := printed().FindStringSubmatch(c.Command); m != nil {
		return m[1], 1, 0
	}
	return "", 0, 0
}

// lastLine is the last line that any file has, so that every store can hold it and the one of a text after it.
const lastLine = 1 << 30

// lineOf returns the number that a text is, as a line; 0 if it is none.
func lineOf(text string) int {
	n, _ := strconv.Atoi(text) // beyond its range it is the largest number
	return min(max(n, 0), lastLine)
}

func number(args map[string]any, names ...string) int {
	for _, name := range names {
		switch n := args[name].(type) {
		case float64:
			if n > 0 && n < lastLine {
				return int(n)
			}
		case json.Number:
			if i := lineOf(n.String()); i > 0 {
				return i
			}
		case string:
			if i := lineOf(n); i > 0 {
				return i
			}
		}
	}
	return 0
}
