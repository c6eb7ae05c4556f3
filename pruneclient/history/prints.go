package history

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

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
	for _, words := range slices.Concat(session.Pipelines(c.Command)...) {
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
