package agent

import "strings"

// Results says how much of one result a client shows to its model.
type Results struct {
	// Limits are the sizes at which the client's own tools cut one result, by tool ("read", "bash", "grep"), minus the
	// size of our notice: Codex and opencode count both together and drop the end. Our tools return no more than that,
	// pruned or not, unless a call asks for more. AnyTool stands for the tools that are not listed.
	Limits map[string]Limit

	// OtherModels limits all tools if a request names a model that does not begin with ModelPrefix; "" means that the
	// client shows each model the same.
	OtherModels Limit
	ModelPrefix string

	// Ceiling is the size in bytes at which the client cuts any result or stores it in a file, even one that a
	// call asked for; 0 means that none is known.
	Ceiling int

	// OnlyStructured: the client ignores content where structuredContent is present. Its model would read escaped JSON.
	OnlyStructured bool

	// HidesErrorData: the client shows its model only the message of a -32602 error, or nothing that a model can use.
	HidesErrorData bool
}

// Limit is the part of one output that a model is shown, at most what its client's own tool would show. A field of 0 means
// no limit.
type Limit struct {
	Lines  int
	Bytes  int
	Tokens int // o200k, estimated
}

// AnyTool is the key for tools without an entry of their own in a client's limits.
const AnyTool = ""

// UnknownLimit is the limit for tools and clients without an entry.
var UnknownLimit = Limit{Tokens: 20_000, Bytes: 200_000}

// Limit returns what is shown of one result of a tool to a model, which may be "".
func (r *Results) Limit(tool, model string) Limit {
	if model != "" && !strings.HasPrefix(model, r.ModelPrefix) {
		return r.OtherModels
	}
	if limit, ok := r.Limits[tool]; ok {
		return limit
	}
	if limit, ok := r.Limits[AnyTool]; ok {
		return limit
	}
	return UnknownLimit
}
