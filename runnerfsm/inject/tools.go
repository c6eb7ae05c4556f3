package inject

import (
	"fmt"
	"slices"
	"strings"
)

// ShellTool is the server's tool that runs commands. A client's sandbox and its approval
// rules for commands do not apply to it, because the server is not sandboxed.
const ShellTool = "bash"

// Settings of the server that select its tools.
const (
	envTools    = "MCP_PRUNER_TOOLS"
	envToolsets = "MCP_PRUNER_TOOLSETS"
)

// coreTools are the tools of the toolset "core"; MCP_PRUNER_TOOLS narrows them.
var coreTools = []string{"read", ShellTool, "grep"}

// toolsets are the tools of the other toolsets that MCP_PRUNER_TOOLSETS can name.
var toolsets = map[string][]string{
	"text": {"prune_text", "recover_text"},
	"gc":   {"context_gc_analyze", "context_gc_prune", "context_gc_pin", "context_gc_unpin", "context_get", "context_search"},
}

// Tools returns the tools that a client is told to offer and may use without asking: those
// that the server's settings select, with bash only if shell is true.
func (s Settings) Tools(shell bool) []string {
	var tools []string
	for _, set := range orElse(words(s.Get(envToolsets)), "core") {
		chosen := toolsets[set]
		if set == "core" {
			chosen = orElse(words(s.Get(envTools)), coreTools...)
		}
		tools = append(tools, chosen...)
	}
	if !shell {
		tools = slices.DeleteFunc(tools, func(tool string) bool { return tool == ShellTool })
	}
	return tools
}

// WithoutShell returns the settings with an environment in which the server offers bash to
// no client. This cannot be expressed if MCP_PRUNER_TOOLS names only bash, since empty
// means all: then only the client's own rules apply.
func (s Settings) WithoutShell() Settings {
	core := orElse(words(s.Get(envTools)), coreTools...)
	core = slices.DeleteFunc(slices.Clone(core), func(tool string) bool { return tool == ShellTool })
	if len(core) > 0 {
		s.Env = append(slices.Clone(s.Env), envTools+"="+strings.Join(core, ","))
	}
	return s
}

func orElse(list []string, otherwise ...string) []string {
	if len(list) == 0 {
		return otherwise
	}
	return list
}

// words splits a comma-separated list of the server's settings.
func words(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
}

// CheckTools returns an error for settings that leave the server without tools.
func (s Settings) CheckTools(shell bool) error {
	if len(s.Tools(shell)) > 0 {
		return nil
	}
	return fmt.Errorf("%s=%q leaves no tool: bash is not offered without --allow-bash", envTools, s.Get(envTools))
}
