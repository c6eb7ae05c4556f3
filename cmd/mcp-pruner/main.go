// Command mcp-pruner is an MCP server whose read, bash and grep are pruned to
// the question an agent asks with the call. "mcp-pruner --help" lists the rest.
// Called as jeeves-mcp-pruner it is "mcp-pruner serve".
package main

import (
	"os"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

func main() {
	run := verbs.Run
	if verbs.IsHTTPName(os.Args[0]) {
		run = verbs.RunHTTP
	}
	server := len(os.Args) == 1 || os.Args[1] == "serve" || verbs.IsHTTPName(os.Args[0])
	verbs.ShedSecrets(os.Args, os.Environ(), server)
	os.Exit(run(command.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
