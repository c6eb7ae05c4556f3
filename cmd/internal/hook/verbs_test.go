package hook_test

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

func init() {
	hook.RunVerb = func(p command.Process) int { return command.Execute(context.Background(), verbs.Root(p), p) }
}
