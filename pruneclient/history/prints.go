package history

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// Prints reports whether a shell command does nothing but print text from files, so that its output is cut as a file is.
func (c ToolCall) Prints() bool {
	if c.Kind != Bash {
		return false
	}
	prints := false
	for _, words := range slices.Concat(session.Pipelines(c.Command)...) {
		name := strings.ToLower(words[0])
		switch {
		case session.Has(name, session.Silent):
		case name == "sed" && (len(words) < 2 || words[1] != "-n"):
			return false
		case session.Has(name, session.Prints), name == "git" && len(words) > 2 && words[1] == "show" && strings.Contains(words[2], ":"):
			prints = true
		default:
			return false
		}
	}
	return prints
}

// Shows reports whether a call does nothing but show text from files: it may be made again without effect, and at once.
func (c ToolCall) Shows() bool { return c.Kind == Read || c.Kind == Grep || c.Prints() }
