package wrap

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// namedByCommand reads the files with rules. It returns a function that says why a server with a command stays as it is: a rule
// on its command would not match any more, or would match another one; "": none does.
func (l List) namedByCommand() (func(command []string) string, error) {
	everyone := ""
	refused := map[string][][]string{}
	for _, pattern := range l.rules {
		paths, _ := filepath.Glob(pattern) // the patterns are right
		for _, path := range paths {
			data, err := decoded(path)
			if err != nil {
				return nil, fmt.Errorf("%s may name servers by their command, and it cannot be read: %w", path, err)
			}
			if data["mcp_servers"] != nil || len(commandsIn(data["allowedMcpServers"])) > 0 {
				everyone = path + " names the commands that may be started"
			}
			refused[path] = commandsIn(data["deniedMcpServers"])
		}
	}
	return func(command []string) string {
		for path, commands := range refused {
			if slices.ContainsFunc(commands, func(c []string) bool { return slices.Equal(c, command) }) {
				return path + " refuses its command"
			}
		}
		return everyone
	}, nil
}

// decoded returns what stands in a file of rules.
func decoded(path string) (map[string]any, error) {
	file := setup.File{Path: path, Syntax: setup.Syntax{Client: "this program", Format: agent.JSONC}}
	if filepath.Ext(path) == ".toml" {
		file.Syntax.Format = agent.TOML
	}
	text, err := file.Read()
	if err != nil {
		return nil, err
	}
	data, err := file.Syntax.Decode(text)
	all, _ := data.(map[string]any)
	return all, err
}

// commandsIn returns the commands in a list of rules such as {"serverCommand": ["npx", "x"]}.
func commandsIn(list any) (commands [][]string) {
	rules, _ := list.([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		if c, named := rule["serverCommand"]; named {
			commands = append(commands, commandOf(map[string]any{"command": c}))
		}
	}
	return commands
}
