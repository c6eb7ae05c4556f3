package initcmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

func (h home) pieces(client string) ([]piece, error) {
	files, err := h.Files(client)
	if err != nil {
		return nil, err
	}
	c := agent.Named(client)
	var found []piece
	switch {
	case c.Hooks == nil:
	case c.Hooks.Plugin != "":
		found = append(found, h.pluginPiece(files.Hooks, c))
	default:
		found = append(found, h.hookPiece(files.Hooks, c))
	}
	switch {
	case c.Servers.Entry != nil:
		entry := c.Servers.Entry(h.path, map[string]any{"PRUNER_URL": "embedded"})
		found = append(found, h.memberPiece(mcp, files.Servers, entry, c.Servers.Member, "pruner"))
	case c.Files.Servers.As == agent.TOML:
		found = append(found, h.tablePiece(files.Servers, c.Servers.Member))
	}
	if c.Hooks != nil && found[len(found)-1].kind == mcp {
		found[len(found)-1].note = fmt.Sprintf(worth, client)
	}
	if c.Proxy != nil {
		found = append(found, h.proxyPiece(files.At(c.Proxy.In), c))
		switch p, ok := h.unitPiece(); {
		case len(c.Proxy.Start) > 0 && c.Proxy.In != agent.InHooks:
			found = append(found, h.startPiece(files.Hooks, c))
		case len(c.Proxy.Start) == 0 && ok:
			found = append(found, p)
		}
	}
	if c.StatusLine != nil {
		found = append(found, h.statusPiece(files.Hooks, c))
	}
	return found, nil
}

// worth says when our tools pay beside a client's own. A test compares it with the measured bill.
const worth = `What to expect: beside the client's own tools ours cost more than they save in most sessions, because their definitions and
questions cost tokens, too. Hooks save there: mcp-pruner init %s --hooks
Where they are the only tools that read, search and run, as in an agent of your own, they save in sessions with large results.`

// dropSecret deletes the secret of the proxy once no client that init set up uses it any more.
func (h home) dropSecret(chosen []piece) error {
	if !slices.ContainsFunc(chosen, func(p piece) bool { return p.kind == proxy }) {
		return nil
	}
	for _, c := range agent.Clients {
		all, err := h.pieces(c.Name)
		if err != nil {
			continue // init cannot set it up
		}
		if slices.ContainsFunc(all, func(p piece) bool { return p.kind == proxy && p.installed() }) {
			return nil
		}
	}
	if err := secret.Remove(h.Lookup); err != nil {
		return errors.Join(errors.New("the secret of the proxy stays"), err)
	}
	return nil
}
