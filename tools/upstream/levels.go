package upstream

import (
	"strings"
)

// level is the amount of prose to keep, in words unless stated otherwise.
type level struct {
	tool   int // description of a tool that is not grouped
	action int // each action line
	param  int // description of each parameter
	needs  int // maximum required parameters named on an action line; the rest become "…"
	enum   int // maximum values of an enum; a longer one becomes a plain string
	inner  int // depth to which nested objects are described
	list   int // characters for a grouped tool's description, which lists its actions

	novel int  // words of a parameter's description that cannot be guessed from the names; with fewer it is left out. 0: any
	brief bool // without the filler of parameters' descriptions

	read map[excerpt]string // texts that were shortened for another level already
}

func (l level) detail() shapeDetail {
	return shapeDetail{Words: l.param, Novel: l.novel, Brief: l.brief, Enum: l.enum, Inner: l.inner, read: l.read}
}

// levels are ordered from the most prose to the least. The first is enough for a model to choose
// a tool: more prose was never worth its cost on every call. Trimmed never gives up what cannot be guessed.
var levels = map[Mode][]level{
	Grouped: {
		group(14, 5, 4, 8, 2, 60), group(12, 4, 3, 6, 2, 60), group(10, 3, 3, 6, 2, 60), group(8, 3, 3, 5, 2, 40), group(8, 2, 3, 5, 2, 0),
		group(8, 0, 3, 5, 2, 0), group(6, 0, 2, 4, 2, 0), group(5, 0, 1, 4, 1, 0), group(5, 0, 0, 4, 1, 0), group(4, 0, 0, 2, 1, 0), group(4, 0, 0, 0, 1, 0),
	},
	Trimmed: {
		{tool: whole, param: 16, enum: 20, inner: 4}, {tool: whole, param: 16, enum: 20, inner: 4, novel: 1}, {tool: whole, param: 16, enum: 20, inner: 4, novel: 2},
		{tool: whole, param: 12, enum: 16, inner: 4, novel: 2}, {tool: whole, param: 12, enum: 16, inner: 3, novel: 3},
		{tool: whole, param: 12, enum: 12, inner: 3, novel: unguessable}, {tool: whole, param: 8, enum: 12, inner: 3, novel: unguessable, brief: true},
	},
}

// whole is more words than a description has.
const whole = 1000

func group(tool, action, needs, enum, inner, list int) level {
	return level{tool: tool, action: action, needs: needs, enum: enum, inner: inner, list: list}
}

// unguessable is the number of novel words from which a parameter's description is never left out.
const unguessable = 4

// TrimTarget is the fraction of a list's tokens that trim aims to remove, also where the target is higher: a client that searches tools
// shows its model few of them, so that more prose is worth its cost.
const TrimTarget = .60

// Kept returns the number of parameters' descriptions that a server's trimmed tools still have.
func Kept(list []Exposed) (texts int) {
	for i := range list {
		texts += strings.Count(strings.TrimPrefix(string(list[i].InputSchema), aboutHelp), `"description":"`)
	}
	return texts
}
