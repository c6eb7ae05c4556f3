package initcmd

import (
	"regexp"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// tools selects the tools and MCP servers whose results hooks may replace.
type tools struct{ only, except []string }

// toolName matches a name that means nothing to any shell.
var toolName = regexp.MustCompile(`^[\w*.-]+$`)

// newTools returns nil if no flag selects anything.
func newTools(only, except []string, set bool) (*tools, error) {
	if !set {
		return nil, nil
	}
	for _, list := range [][]string{only, except} {
		for _, name := range list {
			if !toolName.MatchString(name) {
				return nil, command.Usagef("%q is no name of a tool or server", name)
			}
		}
	}
	return &tools{only, except}, nil
}

func (t *tools) arguments() (args []string) {
	if t == nil {
		return nil
	}
	if len(t.only) > 0 {
		args = append(args, "--only", strings.Join(t.only, ","))
	}
	if len(t.except) > 0 {
		args = append(args, "--except", strings.Join(t.except, ","))
	}
	return args
}

// flags returns the same as the end of a command line.
func (t *tools) flags() string {
	if args := t.arguments(); len(args) > 0 {
		return " " + strings.Join(args, " ")
	}
	return ""
}

// pluginTools matches the arguments with which a client's plugin starts the program.
var pluginTools = regexp.MustCompile(`\["hook", "[a-z]+"[^\]]*\]`)
