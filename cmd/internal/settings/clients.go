package settings

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// titles lists the clients for which a condition holds.
func titles(holds func(*agent.Client) bool) string {
	return strings.Join(agent.Titles(agent.With(holds)), ", ")
}

func onlyStructured(c *agent.Client) bool { return c.Results.OnlyStructured }
func hidesErrorData(c *agent.Client) bool { return c.Results.HidesErrorData }

// clientSecrets lists the variables with secrets of clients.
func clientSecrets() string {
	var names []string
	for _, c := range agent.Clients {
		for _, name := range c.Secrets {
			if strings.HasSuffix(name, "_") {
				name += "*"
			}
			names = append(names, "`"+name+"`")
		}
	}
	return strings.Join(names, ", ")
}
