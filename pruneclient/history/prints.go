package history

import "strings"

// printers are the commands that print what stands in files, or a part of what another of them prints.
var printers = map[string]bool{"cat": true, "nl": true, "head": true, "tail": true, "less": true, "bat": true, "sed": true, "grep": true, "rg": true,
	"type": true, "get-content": true, "select-string": true, "select-object": true}

// beside are the commands that may stand before and between printers.
var beside = map[string]bool{"cd": true, "echo": true, "true": true, "pwd": true}

// Prints reports whether a shell command does nothing but print text from files, so that its output is cut as a file is.
func (c ToolCall) Prints() bool {
	if c.Kind != Bash {
		return false
	}
	prints := false
	for _, words := range commands(c.Command) {
		name := strings.ToLower(words[0])
		switch {
		case beside[name]:
		case name == "sed" && (len(words) < 2 || words[1] != "-n"):
			return false
		case printers[name], name == "git" && len(words) > 2 && words[1] == "show" && strings.Contains(words[2], ":"):
			prints = true
		default:
			return false
		}
	}
	return prints
}

// Shows reports whether a call does nothing but show text from files: it may be made again without effect, and at once.
func (c ToolCall) Shows() bool { return c.Kind == Read || c.Kind == Grep || c.Prints() }

// commands splits a shell command at its separators and returns the words of each part. It returns nil for a command that
// writes to a file, reads a text of its own, or runs another one inside.
func commands(command string) [][]string {
	for _, harmless := range []string{"2>/dev/null", "2>&1"} {
		command = strings.ReplaceAll(command, harmless, " ")
	}
	if strings.ContainsAny(command, "<>`") || strings.Contains(command, "$(") {
		return nil
	}
	var list [][]string
	quote, start := byte(0), 0
	part := func(end int) {
		if words := strings.Fields(command[start:end]); len(words) > 0 {
			list = append(list, words)
		}
		start = end + 1
	}
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(";&|\n", c) >= 0:
			part(i)
		}
	}
	part(len(command))
	return list
}
