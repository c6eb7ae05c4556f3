package contextgc

import "math"

// Kind is the kind of an item's content.
type Kind int

const (
	KindOther   Kind = iota
	KindFile         // a file, or a part of one
	KindSearch       // matches, or names of files
	KindCommand      // the output of a command
	KindEdited       // what an edit answered
	KindWritten      // the arguments of a call that wrote a file
	KindThought      // thinking of the model
)

// MinWritten is the number of tokens from which the arguments of a call that wrote a file are an item, and WrittenBytes the
// number of bytes from which a text in them is replaced.
const (
	MinWritten   = 200
	WrittenBytes = 200
)

// needs are the probabilities that the model needs an item again, by kind: at first, the calls after which a third of that is
// left, and for ever. They were estimated from the needs that replay finds in recorded sessions, on which age and kind tell most.
var needs = [...]struct{ first, calls, always float64 }{
	KindOther:   {.22, 8, .01},
	KindFile:    {.42, 16, .01},
	KindSearch:  {.2, 3, .008},
	KindCommand: {.07, 4, .006},
	KindEdited:  {.2, 14, .01},
	KindWritten: {.15, 14, .01},
	KindThought: {.05, 8, .002}, // a guess: docs/decisions/099-what-a-clearing-may-risk.md
}

// need returns the probability that the model needs an item again. A file is as young as its latest edit.
func (w Window) need(item Item) float64 {
	age := w.Call - item.Call
	if edit, ok := w.Edited[item.Path]; ok && item.Path != "" {
		age = min(age, w.Call-edit)
	}
	n := needs[item.Kind]
	return n.first*math.Exp(-float64(age)/n.calls) + n.always
}
