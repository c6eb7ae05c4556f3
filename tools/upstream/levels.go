package upstream

import "github.com/mcp-pruner/mcp-pruner/tools/upstream/parameter"

// level is the amount of prose to keep, in words unless stated otherwise.
type level struct {
	tool   int // description of a tool that is not grouped
	action int // each action line
	param  int // description of each parameter
	needs  int // maximum required parameters named on an action line; the rest become "…"
	enum   int // maximum values of an enum; a longer one becomes a plain string
	inner  int // depth to which nested objects are described
	list   int // characters for a grouped tool's description, which lists its actions
}

func (l level) detail() parameter.Detail {
	return parameter.Detail{Words: l.param, Enum: l.enum, Inner: l.inner}
}

// levels are ordered from the most prose to none. The first is enough for a model to choose
// a tool: more prose was never worth its cost on every call.
var levels = map[Mode][]level{
	Grouped: {
		{14, 5, 0, 4, 8, 2, 60}, {12, 4, 0, 3, 6, 2, 60}, {10, 3, 0, 3, 6, 2, 60}, {8, 3, 0, 3, 5, 2, 40}, {8, 2, 0, 3, 5, 2, 0},
		{8, 0, 0, 3, 5, 2, 0}, {6, 0, 0, 2, 4, 2, 0}, {5, 0, 0, 1, 4, 1, 0}, {5, 0, 0, 0, 4, 1, 0}, {4, 0, 0, 0, 2, 1, 0}, {4, 0, 0, 0, 0, 1, 0},
	},
	Trimmed: {
		{1000, 0, 12, 0, 20, 4, 0}, {1000, 0, 8, 0, 12, 4, 0}, {1000, 0, 4, 0, 8, 3, 0}, {1000, 0, 0, 0, 8, 2, 0},
	},
}
