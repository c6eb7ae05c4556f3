// Command mcp-pruner is an MCP server whose read, bash and grep are pruned to
// the question an agent asks with the call. "mcp-pruner --help" lists the rest.
package main

import (
	"os"

	"mcp-pruner/cmd/internal/cli"
	"mcp-pruner/cmd/internal/command"
)

func main() {
	if len(os.Args) == 1 || os.Args[1] == "serve" {
		cli.ShedSecrets(os.Args, os.Environ())
	}
	os.Exit(cli.Run(command.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
