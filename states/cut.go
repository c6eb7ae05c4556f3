package states

import (
	"cmp"
	"context"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// limitOf returns what the request's client shows its model of one result of a tool.
func (r Request) limitOf(tool string) tools.Limit {
	return tools.Limit(agent.Announced(r.Client).Results.Limit(tool, r.Model))
}

// fit cuts the answer, and the unpruned output that it replaces, to the size that the client's own tool would
// show. Output that cannot be read again is stored first; if that fails, it is not cut.
func (c *Execution) fit(ctx context.Context) {
	if state := c.machine.State(); state != fsm.RespondRaw && state != fsm.RespondPruned {
		return
	}
	limit := c.request.limitOf(c.toolName)
	c.output = fitted(c.output, limit, func(rest string) string {
		id, err := c.keep(ctx, rest)
		if err != nil {
			return ""
		}
		c.pruneID = cmp.Or(c.pruneID, id)
		return id
	})
	if c.raw != nil { // its original is stored already
		c.raw = fitted(c.raw, limit, func(string) string { return c.pruneID })
	}
}

// fitted returns an output cut to a limit. store returns the id under which the part that is left out is stored; with
// "" the output is not cut.
func fitted(whole tools.Output, limit tools.Limit, store func(rest string) (id string)) tools.Output {
	output, cut := cutTo(whole, limit)
	if !cut {
		return whole
	}
	rest, ok := output.(tools.Rester)
	if !ok || rest.Rest() == "" {
		return output
	}
	if id := store(rest.Rest()); id != "" {
		return rest.WithRest(id)
	}
	if shortened, ok := whole.(interface{ Unstored() tools.Output }); ok {
		return shortened.Unstored()
	}
	return whole
}

// shown returns the fraction of the unpruned output, 0 to 1, that fits the client's limit.
func (c *Execution) shown() float64 {
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
