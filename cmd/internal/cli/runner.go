package cli

import (
	"context"

	"mcp-pruner/cmd/internal/runcmd"
)

func run(ctx context.Context, p Process) int {
	return runcmd.Program{Version: buildVersion()}.Run(ctx, p.Args, p.Env, p.Stdin, p.Stdout, p.Stderr)
}

func config(ctx context.Context, p Process) int {
	return runcmd.Config(ctx, p.Args, p.Env, p.Stdin, p.Stdout, p.Stderr)
}

func install(ctx context.Context, p Process) int {
	return runcmd.Install(ctx, p.Args, p.Env, p.Stdin, p.Stdout, p.Stderr)
}
