package gccmd

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/tools/contextgc/planner"
)

// target is what settings are printed for.
type target string

const claudeAPI target = "claude-api"

// settingsCommand prints what makes a provider clear results by itself.
func settingsCommand(p command.Process) *cobra.Command {
	what := claudeAPI
	c := &cobra.Command{
		Use: "settings", Short: "Print what makes an API clear old results by itself", Args: command.NoArguments,
		Long: `Prints the context_management block of Anthropic's Messages API that comes closest to what the
planner does. Send it with the header "anthropic-beta: context-management-2025-06-27".`,
		RunE: func(*cobra.Command, []string) error {
			enc := json.NewEncoder(p.Stdout)
			enc.SetIndent("", "  ")
			return enc.Encode(contextManagement(planner.DefaultPolicy()))
		},
	}
	c.Flags().Var(command.Choice(&what, claudeAPI), "for", "the API")
	return c
}

type amount struct {
	Type  string `json:"type"`
	Value int    `json:"value"`
}

type clearToolUses struct {
	Type         string `json:"type"`
	Trigger      amount `json:"trigger"`
	Keep         amount `json:"keep"`
	ClearAtLeast amount `json:"clear_at_least"`
}

// contextManagement is a fixed rule, which is all that the API knows: the best one on
// recorded sessions decides when, the planner's policy how much stays.
func contextManagement(policy planner.Policy) any {
	rule := planner.BestFixedRule()
	return map[string]any{"context_management": map[string]any{"edits": []clearToolUses{{
		Type:         "clear_tool_uses_20250919",
		Trigger:      amount{"input_tokens", rule.Above},
		Keep:         amount{"tool_uses", max(rule.Keep, policy.KeepLast)},
		ClearAtLeast: amount{"input_tokens", rule.Free},
	}}}}
}
