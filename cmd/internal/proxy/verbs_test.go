package proxy_test

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

func init() {
	proxy.RunVerb = func(p command.Process) int { return command.Execute(context.Background(), verbs.Root(p), p) }
}
