package verbs

import (
	"context"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// proxyOf reports whether the proxy to which a client's API calls go answers a request.
func proxyOf(ctx context.Context, p command.Process, c initcmd.Proxied) finding {
	key, err := secret.LoadProof(p.Lookup)
	if err != nil {
		return finding{c.Client, fmt.Sprintf("proxy: %v", err), cannotBeRead}
	}
	now, err := proxy.Ask(ctx, c.Address, key)
	switch {
	case err != nil && c.Starts && proxy.NotRunning(err):
		return finding{what: c.Client, found: fmt.Sprintf("proxy at %s, by %s: not running now; the client starts it with its next session", c.Address, c.File)}
	case proxy.Taken(err):
		return finding{c.Client, fmt.Sprintf("%s at %s: %v. Whatever the client sends there, that program gets: the secret of the proxy, your key, your conversation. %s; \"mcp-pruner init %s --proxy --uninstall\" does without",
			noProxy, c.Address, err, remedy(c.Address, err), c.Client), noProxy}
	case err != nil:
		return finding{c.Client, fmt.Sprintf("%s at %s (%v), so that the client has no API: %s; \"mcp-pruner init %s --proxy --uninstall\" does without",
			noProxy, c.Address, err, remedy(c.Address, err), c.Client), noProxy}
	case now.Status != proxy.OK:
		return finding{c.Client, fmt.Sprintf("the proxy at %s %s: %s", c.Address, proxyPasses, now.Message), proxyPasses}
	case now.Alone > 0:
		return finding{c.Client, fmt.Sprintf("the proxy at %s %s, %d so far: %s (policy %s, %d requests, %d results replaced)",
			c.Address, leavesAlone, now.Alone, now.AloneWhy, now.Policy, now.Requests, now.Replaced), leavesAlone}
	}
	return finding{what: c.Client, found: fmt.Sprintf("proxy at %s answers (policy %s, %d requests, %d results replaced)", c.Address, now.Policy, now.Requests, now.Replaced)}
}

// remedy says how a client's proxy comes to answer. Where another program listens, a start would only fail.
func remedy(address string, err error) string {
	port := address[strings.LastIndexByte(address, ':')+1:]
	if proxy.NotRunning(err) {
		return fmt.Sprintf("\"mcp-pruner proxy --ensure --port %s\" starts it", port)
	}
	return fmt.Sprintf("End the program that has port %s, and then \"mcp-pruner proxy --ensure --port %s\" starts the proxy", port, port)
}
