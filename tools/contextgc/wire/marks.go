package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// A place is the input of a model call: the end of a turn. What was decided there must be found again in every history that
// passes it, and in no other, because the same history must always become the same bytes. Clients rewrite parts of their
// histories, so a place has several marks, any of which identifies it: the results of its turn by text, by call id and by
// call, or the words of a turn without results.

// Marks returns the marks of each turn. Before the first result there is nothing to decide and no mark.
func (c *Conversation) Marks() [][]Key {
	all := make([][]Key, len(c.Turns))
	found := make(map[Key]bool, 4*len(c.Turns)) // about as many as there are
	var last *Result
	silent := uint64(0) // turns without results since the last result
	var text []byte     // what the current mark is the hash of
	for i, t := range c.Turns {
		add := func(kind byte, parts ...[]byte) {
			text = append(text[:0], kind)
			for _, p := range parts {
				text = append(binary.AppendUvarint(text, uint64(len(p))), p...)
			}
			if c.Owner != "" {
				text = append(binary.AppendUvarint(text, uint64(len(c.Owner))), c.Owner...)
			}
			if k := Key(sha256.Sum256(text)); !found[k] { // the second of two would be ambiguous
				found[k] = true
				all[i] = append(all[i], k)
			}
		}
		var before Key
		if last != nil {
			before = last.Key
		}
		for n, r := range t.Results {
			if contextgc.Distinctive(r.ID) {
				add('r', r.Key[:])
				add('i', []byte(r.ID))
			} else {
				add('r', before[:], r.Key[:]) // other sessions may have such a result, too
			}
			if last != nil { // unrelated sessions begin with the same call
				add('c', before[:], []byte(r.Use.Tool), r.Use.raw.Of(c.Body), binary.AppendUvarint(nil, uint64(n)))
			}
		}
		if len(t.Results) > 0 {
			last, silent = t.Results[len(t.Results)-1], 0
			continue
		}
		if last == nil || t.Given == 0 {
			continue
		}
		for _, w := range t.words {
			if text := w.Of(c.Body); !bytes.HasPrefix(text, []byte(`"`+reminder)) {
				add('w', before[:], text)
			}
		}
		place := binary.AppendUvarint(nil, silent)
		add('u', before[:], place)
		if contextgc.Distinctive(last.ID) {
			add('v', []byte(last.ID), place)
		}
		silent++
	}
	return all
}

// reminder is the start of the text that a client adds to a person's words and may omit later.
const reminder = `<system-reminder>`
