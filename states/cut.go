package states

import (
	"context"
	"strings"

	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// limits are the sizes at which a client's own tools cut one result for the model, minus
// the size of our notice: Codex and opencode count both together and drop the end. Our
// tools return no more than that, pruned or not, unless a call asks for more. For the
// sources see docs/SPEC-NOTES.md.
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
	"gemini-cli-mcp-client": {
		"read":  {Lines: 2000, Bytes: 39_000},
		"grep":  {Lines: 100, Bytes: 39_000},
		anyTool: {Bytes: 39_000},
	},
}

// codex is the client name that Codex sends.
const codex = "codex-mcp-client"

// anyTool is the key for tools without an entry of their own in a client's limits.
const anyTool = ""

// unknownClient is the limit for clients without an entry.
var unknownClient = tools.Limit{Tokens: 20_000, Bytes: 200_000}

// unknownToCodex is the limit for Codex with a model that it does not know, such as one of
// another provider: Codex then shows 12,000 bytes, our notice included.
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

// fit cuts the answer to the size that the client's own tool would show. Output that cannot
// be read again is stored first; if that fails, it is not cut.
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
	if c.raw != nil { // the unpruned output would have been cut as well
		c.raw, _ = cutTo(c.raw, limit)
	}
}

// shown returns the fraction of the unpruned output, 0 to 1, that fits the client's limit.
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
