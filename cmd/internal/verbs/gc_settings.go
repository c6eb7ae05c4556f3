package verbs

import (
	_ "embed"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// gcTarget is the API or client for which settings are printed.
type gcTarget string

const (
	claudeAPI gcTarget = "claude-api"
	opencode  gcTarget = "opencode"
)

//go:embed opencode.js
var opencodePlugin string

// settings prints settings with which an API or a client clears old results by itself.
func (v *gcVerb) settings() *cobra.Command {
	what := claudeAPI
	c := &cobra.Command{
		Use: "settings", Short: "Print what makes an API clear old results by itself", Args: command.NoArguments,
		Long: `For claude-api prints the context_management block of Anthropic's Messages API that comes closest
to what the planner does. Send it with the header "anthropic-beta: context-management-2025-06-27".
For opencode prints a plugin that does what the proxy does, without the proxy.`,
		Example: "  mcp-pruner gc settings --for opencode > ~/.config/opencode/plugins/mcp-pruner-gc.js",
		RunE: func(*cobra.Command, []string) error {
			if what == opencode && v.json {
				return command.Usagef("the plugin for opencode is JavaScript; leave out --json")
			}
			if what == opencode {
				return printPlugin(v.p.Stdout)
			}
			return writeJSON(v.p.Stdout, contextManagement(contextgc.DefaultPolicy()), true)
		},
	}
	c.Flags().Var(command.Choice(&what, claudeAPI, opencode), "for", "the API or the client")
	return c
}

// printPlugin prints the plugin with the path of this program, which need not be on PATH.
func printPlugin(w io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, setup.Plugin(string(opencode), opencodePlugin, self))
	return err
}

type tokenAmount struct {
	Type  string `json:"type"`
	Value int    `json:"value"`
}

type clearToolUses struct {
	Type         string      `json:"type"`
	Trigger      tokenAmount `json:"trigger"`
	Keep         tokenAmount `json:"keep"`
	ClearAtLeast tokenAmount `json:"clear_at_least"`
}

// contextManagement returns a fixed rule, because the API supports nothing else. When it clears comes from the best
// fixed rule on recorded sessions; how much it keeps comes from the planner's policy.
func contextManagement(policy contextgc.Policy) any {
	rule := contextgc.BestFixedRule()
	return map[string]any{"context_management": map[string]any{"edits": []clearToolUses{{
		Type:         "clear_tool_uses_20250919",
		Trigger:      tokenAmount{"input_tokens", rule.Above},
		Keep:         tokenAmount{"tool_uses", max(rule.Keep, policy.KeepLast)},
		ClearAtLeast: tokenAmount{"input_tokens", rule.Free},
	}}}}
}
