// Command jeeves-mcp-pruner is "mcp-pruner serve" under the name that its design
// gives it: MCP over HTTP on this machine.
package main

import (
	"os"

	"mcp-pruner/cmd/internal/cli"
	"mcp-pruner/cmd/internal/command"
)

func main() {
	cli.ShedSecrets(os.Args, os.Environ(), true)
	os.Exit(cli.RunHTTP(command.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
