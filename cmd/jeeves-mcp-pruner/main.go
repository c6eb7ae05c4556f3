// Command jeeves-mcp-pruner is "mcp-pruner serve" under the name that its design
// gives it: MCP over HTTP on this machine.
package main

import (
	"os"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

func main() {
	verbs.ShedSecrets(os.Args, os.Environ(), true)
	os.Exit(verbs.RunHTTP(command.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
