// Command mcp-pruner is an MCP server whose read, bash and grep are pruned to
// the question an agent asks with the call. "mcp-pruner --help" lists the rest.
// Called as jeeves-mcp-pruner it is "mcp-pruner serve".
package main

import (
	"os"

	"mcp-pruner/cmd/internal/cli"
	"mcp-pruner/cmd/internal/command"
)

func main() {
	run := cli.Run
	if cli.IsHTTPName(os.Args[0]) {
		run = cli.RunHTTP
	}
	server := len(os.Args) == 1 || os.Args[1] == "serve" || cli.IsHTTPName(os.Args[0])
	cli.ShedSecrets(os.Args, os.Environ(), server)
	os.Exit(run(command.Process{
		Args:   os.Args[1:],
		Env:    os.Environ(),
		Stdin:  os.Stdin,
		Stdout: os.Stdout,
		Stderr: os.Stderr,
	}))
}
