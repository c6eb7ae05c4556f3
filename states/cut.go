package states

import (
	"cmp"
	"context"
	"strings"

	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// clientLimits says how much of one result a client shows to its model.
type clientLimits struct {
	// tools are the sizes at which the client's own tools cut one result, minus the size of our notice: Codex and
	// opencode count both together and drop the end. Our tools return no more than that, pruned or not, unless a
	// call asks for more. anyTool stands for the tools that are not listed.
	tools map[string]tools.Limit

	// ceiling is the size in bytes at which the client cuts any result or stores it in a file, even one that a
	// call asked for; 0 means that none is known.
	ceiling int
}

// clients is the only table of what clients show. For the sources see docs/SPEC-NOTES.md.
var clients = map[string]clientLimits{
	"claude-code": {
		tools: map[string]tools.Limit{
			"read": {Lines: 2000, Tokens: 25_000, Bytes: 200_000},
			"bash": {Bytes: 30_000},
			"grep": {Bytes: 20_000},
		},
		ceiling: 500_000, // with anthropic/maxResultSizeChars, which the server sends
	},
	codex: {
		tools:   map[string]tools.Limit{anyTool: {Tokens: 10_000, Bytes: 36_000}},
		ceiling: 48_000, // 40,000 in code mode, 12,000 for models that Codex does not know
	},
	"opencode": {tools: map[string]tools.Limit{
		"grep":  {Lines: 100, Bytes: 45_000},
		anyTool: {Lines: 1950, Bytes: 45_000},
	}},
	"gemini-cli-mcp-client": {tools: map[string]tools.Limit{
		"read":  {Lines: 2000, Bytes: 39_000},
		"grep":  {Lines: 100, Bytes: 39_000},
		anyTool: {Bytes: 39_000},
	}},
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

// Ceiling returns the size in bytes above which the client with that name does not show a result to its model,
// whatever the call asked for; 0 if none is known.
func Ceiling(client string) int { return clients[client].ceiling }

func (r Request) limitOf(tool string) tools.Limit {
	client := r.Client
	if client == codex && r.Model != "" && !strings.HasPrefix(r.Model, "gpt-") {
		return unknownToCodex
	}
	if limit, ok := clients[client].tools[tool]; ok {
		return limit
	}
	if limit, ok := clients[client].tools[anyTool]; ok {
		return limit
	}
	return unknownClient
}

// fit cuts the answer, and the unpruned output that it replaces, to the size that the client's own tool would
// show. Output that cannot be read again is stored first; if that fails, it is not cut.
func (c *Call) fit(ctx context.Context) {
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
