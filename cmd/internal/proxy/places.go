package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"strings"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// A place is the input of a model call: the end of a turn. What was decided there must be found again in every history that
// passes it, and in no other, because the same history must always become the same bytes. Clients rewrite parts of their
// histories, so a place has several marks, any of which identifies it: the results of its turn by text, by call id and by
// call, or the words of a turn without results. Each mark leads to a head, which is the latest decision in force there, and
// each decision to the one before it. A place that was lost by an edit therefore costs nothing if a later one is found.
// What a mark leads to is stored when a history is first sent, even if that is no decision, and never changes.

// marks returns the marks of each turn. Before the first result there is nothing to decide and no mark.
func (c *conversation) marks() [][]key {
	all := make([][]key, len(c.turns))
	found := make(map[key]bool)
	var last *result
	silent := uint64(0) // turns without results since the last result
	for i, t := range c.turns {
		add := func(kind byte, parts ...[]byte) {
			hash := sha256.New()
			hash.Write([]byte{kind})
			for _, p := range parts {
				hash.Write(binary.AppendUvarint(nil, uint64(len(p))))
				hash.Write(p)
			}
			if k := key(hash.Sum(nil)); !found[k] { // the second of two would be ambiguous
				found[k] = true
				all[i] = append(all[i], k)
			}
		}
		var before key
		if last != nil {
			before = last.key
		}
		for n, r := range t.results {
			if distinctive(r.id) {
				add('r', r.key[:])
				add('i', []byte(r.id))
			} else {
				add('r', before[:], r.key[:]) // other sessions may have such a result, too
			}
			if last != nil { // unrelated sessions begin with the same call
				add('c', before[:], []byte(r.use.call.Tool), r.use.raw.of(c.body), binary.AppendUvarint(nil, uint64(n)))
			}
		}
		if len(t.results) > 0 {
			last, silent = t.results[len(t.results)-1], 0
			continue
		}
		if last == nil || t.given == 0 {
			continue
		}
		for _, w := range t.words {
			if text := w.of(c.body); !strings.HasPrefix(string(text[:min(len(text), len(reminder))]), reminder) {
				add('w', before[:], text)
			}
		}
		place := binary.AppendUvarint(nil, silent)
		add('u', before[:], place)
		if distinctive(last.id) {
			add('v', []byte(last.id), place)
		}
		silent++
	}
	return all
}

// reminder is the start of the text that a client adds to a person's words and may omit later.
const reminder = `"<system-reminder>`

// distinctive reports whether a call id is unique everywhere, as those of the large providers are. Local servers send
// call_0 or functions.bash:3, which other sessions have, too.
func distinctive(id string) bool {
	for part := range strings.FieldsFuncSeq(strings.ReplaceAll(id, "-", ""), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(part) >= 16 && strings.ContainsAny(part, "0123456789") {
			return true
		}
	}
	return false
}

// group is the clearings decided at one place.
type group struct {
	parent key // the decision before it; zero: none
	items  map[key]decision
}

// recall returns the heads of the marks that are in memory, and the other marks.
func (e *engine) recall(marks [][]key) (heads map[key]key, others [][32]byte) {
	heads = make(map[key]key)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, list := range marks {
		for _, m := range list {
			if head, ok := e.heads[m]; ok {
				heads[m] = head
			} else {
				others = append(others, m)
			}
		}
	}
	return heads, others
}

// lookup returns the heads of the known marks.
func (e *engine) lookup(ctx context.Context, marks [][]key) (map[key]key, error) {
	heads, unknown := e.recall(marks)
	if len(unknown) == 0 {
		return heads, nil
	}
	stored, err := e.store.Heads(ctx, unknown)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	missing := false
	for m, head := range stored {
		heads[m], e.heads[m] = head, head
		missing = missing || key(head) != key{} && e.groups[head] == nil
	}
	e.mu.Unlock()
	if missing { // another process decided just now
		return heads, e.reload(ctx)
	}
	return heads, nil
}

// remember records what marks lead to, unless they are known. It is stored with the next decision or by flush.
func (e *engine) remember(heads map[key]key) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.heads) > maxHeads {
		e.heads = maps.Clone(e.unstored)
	}
	for m, head := range heads {
		if _, ok := e.heads[m]; !ok {
			e.heads[m], e.unstored[m] = head, head
		}
	}
}

// maxHeads bounds the marks held in memory; the others are in the store.
const maxHeads = 200_000

// flushInTurn is flush for requests that have been answered: those that wait for another one find theirs stored.
func (e *engine) flushInTurn(ctx context.Context) error {
	e.flushing.Lock()
	defer e.flushing.Unlock()
	return e.flush(ctx)
}

// flush stores what remember recorded.
func (e *engine) flush(ctx context.Context) error {
	e.mu.Lock()
	heads := make(map[[32]byte][32]byte, len(e.unstored))
	for m, head := range e.unstored {
		heads[m] = head
	}
	e.mu.Unlock()
	if len(heads) == 0 {
		return nil
	}
	if err := e.store.Settle(ctx, heads); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for m := range heads {
		delete(e.unstored, m)
	}
	return nil
}

// learn adds decisions from the store. A decision is stored and read as a whole and never changes.
func (e *engine) learn(list []contextgc.Clearing) {
	mine := make(map[key]*group)
	for _, c := range list {
		g := mine[c.Since]
		if g == nil {
			g = &group{parent: c.Parent, items: make(map[key]decision)}
			mine[c.Since] = g
		}
		g.items[c.Item] = decision{c.Stub, tokens.OfJSON(len(c.Stub)), c.Free}
	}
	maps.Copy(e.groups, mine)
}

// enter puts the decisions of a turn's place into force. It reports whether the place is known.
func (w *walk) enter(i int) (known bool) {
	for _, m := range w.marks[i] {
		head, ok := w.heads[m]
		if !ok {
			continue
		}
		known = true
		w.force(head)
	}
	w.at[i] = w.head
	return known
}

// force puts a decision and those before it into force.
func (w *walk) force(head key) {
	if w.forced[head] {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for k := head; k != (key{}) && !w.forced[k]; {
		g := w.groups[k]
		if g == nil {
			break // removed from the ledger
		}
		w.forced[k], w.grown = true, true
		for item, d := range g.items {
			if _, ok := w.inForce[item]; !ok {
				w.inForce[item] = d
			}
		}
		k = g.parent
	}
	if w.forced[head] {
		w.head = head
	}
}

// settle records what the places of this history lead to, so that later decisions do not change it.
func (w *walk) settle() {
	heads := make(map[key]key)
	for i, list := range w.marks {
		for _, m := range list {
			if _, ok := w.heads[m]; !ok {
				heads[m] = w.at[i]
			}
		}
	}
	if len(heads) > 0 {
		w.remember(heads)
	}
}
