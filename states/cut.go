package states

import (
	"context"
	"strings"

	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// limits say how much of one result a client's own tool shows its model, less what our
// note takes: Codex and opencode measure both together and drop what comes last. Ours
// shows no more, pruned or not, unless a call asks for more. docs/SPEC-NOTES.md has the
// sources.
var limits = map[string]map[string]tools.Limit{
	"claude-code": {
		"read": {Lines: 2000, Tokens: 25_000, Bytes: 200_000},
		"bash": {Bytes: 30_000},
		"grep": {Bytes: 20_000},
	},
	codex: {anyTool: {Tokens: 10_000, Bytes: 36_000}},
	"opencode": {
		"grep":  {Lines: 100, Bytes: 45_000},
		anyTool: {Lines: 1950, Bytes: 45_000},
	},
}

// codex is the name that Codex gives itself.
const codex = "codex-mcp-client"

// anyTool stands for the tools that a client's row does not name.
const anyTool = ""

// unknownClient is the limit of clients that have no row.
var unknownClient = tools.Limit{Tokens: 20_000, Bytes: 200_000}

// unknownToCodex is the limit of Codex for models that it does not know, as those of
// other providers: it shows 12,000 bytes, and our note has to be among them.
var unknownToCodex = tools.Limit{Bytes: 8_000}

func (r Request) limitOf(tool string) tools.Limit {
	client := r.Client
	if client == codex && r.Model != "" && !strings.HasPrefix(r.Model, "gpt-") {
		return unknownToCodex
	}
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
	limit := c.request.limitOf(c.toolName)
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
		return cutter.Shown(c.request.limitOf(c.toolName))
	}
	return 1
}

func cutTo(o tools.Output, limit tools.Limit) (tools.Output, bool) {
	if cutter, ok := o.(tools.Cutter); ok {
		return cutter.Cut(limit)
	}
	return o, false
}
