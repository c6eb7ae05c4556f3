package states

import (
	"context"

	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// limits say how much of one result a client's own tool shows its model. Ours shows
// no more, pruned or not, unless a call asks for more.
var limits = map[string]map[string]tools.Limit{
	"claude-code": {
		"read": {Lines: 2000, Tokens: 25_000, Bytes: 200_000},
		"bash": {Bytes: 30_000},
		"grep": {Bytes: 20_000},
	},
	"codex-mcp-client": {anyTool: {Tokens: 10_000, Bytes: 40_000}},
	"opencode":         {anyTool: {Lines: 2000, Bytes: 50 << 10}},
}

// anyTool stands for the tools that a client's row does not name.
const anyTool = ""

// unknownClient is the limit of clients that have no row.
var unknownClient = tools.Limit{Tokens: 20_000, Bytes: 200_000}

func limitOf(client, tool string) tools.Limit {
	if limit, ok := limits[client][tool]; ok {
		return limit
	}
	if limit, ok := limits[client][anyTool]; ok {
		return limit
	}
	return unknownClient
}

// fit cuts what is about to be answered to what the client's own tool would show.
// What cannot be read again is stored first, and left whole where that fails.
func (c *Call) fit(ctx context.Context) {
	if state := c.machine.State(); state != fsm.RespondRaw && state != fsm.RespondPruned {
		return
	}
	limit := limitOf(c.request.Client, c.toolName)
	output, cut := cutTo(c.output, limit)
	if !cut {
		return
	}
	if rest, ok := output.(tools.Rester); ok && rest.Rest() != "" {
		id, err := c.keep(ctx, rest.Rest())
		if err != nil || id == "" {
			return
		}
		output = rest.WithRest(id)
		if c.pruneID == "" {
			c.pruneID = id
		}
	}
	c.output = output
	if c.raw != nil { // without pruning it would have been cut as well
		c.raw, _ = cutTo(c.raw, limit)
	}
}

// shown is the share of the output that its client would be shown of it as it is.
func (c *Call) shown() float64 {
	if cutter, ok := c.output.(tools.Cutter); ok {
		return cutter.Shown(limitOf(c.request.Client, c.toolName))
	}
	return 1
}

func cutTo(o tools.Output, limit tools.Limit) (tools.Output, bool) {
	if cutter, ok := o.(tools.Cutter); ok {
		return cutter.Cut(limit)
	}
	return o, false
}
