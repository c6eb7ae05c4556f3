package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Stub returns the text that replaces a cleared result: at most 25 tokens and the command that prints the result, if that is
// the program's name.
func Stub(tokens int, way string) string {
	return fmt.Sprintf("[cleared: %d tokens; `%s` prints them]", tokens, way)
}

// commit stores the originals, runs the request machine for the results and stores the replacements. Only
// after that are they applied.
func (w *walk) commit(ctx context.Context, client string, changes []change, free bool) error {
	if err := w.keep(ctx, client, changes); err != nil {
		return err
	}
	unused, err := w.claim(changes)
	defer func() {
		for id := range unused {
			w.index.Release(id)
		}
	}()
	if err != nil {
		return err
	}
	back := w.wayBack(client)
	for i := range changes {
		changes[i].text = changes[i].write(back + " " + changes[i].id)
	}
	replaced, err := w.replace(ctx, w.conversation, client, changes)
	if err != nil {
		return err
	}
	var list []contextgc.Clearing
	for _, ch := range changes {
		if text, ok := replaced[ch.result.index]; ok {
			list = append(list, contextgc.Clearing{Item: ch.result.key, Segment: ch.segment, Stub: text,
				Tokens: tokens.OfJSON(ch.result.bytes), Free: free})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := w.flush(ctx); err != nil {
		return err
	}
	place := w.place()
	holds, err := w.store.Clear(ctx, place, list)
	if err != nil {
		clear(unused) // the decisions may have been stored all the same
		return err
	}
	for _, ch := range changes {
		if slices.ContainsFunc(holds, func(c contextgc.Clearing) bool { return c.Stub == replaced[ch.result.index] }) {
			delete(unused, ch.id)
		}
	}
	w.fresh += len(holds)
	w.mu.Lock()
	w.learn(holds)
	w.mu.Unlock()
	w.force(place.ID)
	w.at[len(w.at)-1] = w.head
	w.settle()
	return nil
}

// place returns the place at the end of the history, at which a decision is made now.
func (w *walk) place() contextgc.Place {
	here := w.marks[len(w.marks)-1]
	p := contextgc.Place{Parent: w.head, Marks: make([][32]byte, len(here))}
	hash := sha256.New()
	for i, m := range here {
		p.Marks[i] = m
		hash.Write(m[:])
	}
	hash.Sum(p.ID[:0])
	return p
}

// claim records in changes the ids that the agent will be shown, and returns them. They are unique among all stores of
// this user, unlike the ids of segments, which every ledger counts from 1.
func (w *walk) claim(changes []change) (ids map[string]bool, err error) {
	project := archive.ProjectOf(w.workingFolder())
	ids = make(map[string]bool, len(changes))
	for i, ch := range changes {
		text := ch.result.text(w.body)
		first := ledger.Result(ch.result.use.call, text).FirstLine
		e := archive.NewEntry(sha256.Sum256([]byte(text)), w.store.Path(), project, first)
		if changes[i].id, err = w.index.Claim(e); err != nil {
			return ids, err
		}
		ids[changes[i].id] = true
	}
	return ids, nil
}

// keep stores the originals and records the ids of their segments in changes.
func (w *walk) keep(ctx context.Context, client string, changes []change) error {
	entries := make([]contextgc.Entry, len(changes))
	for i, ch := range changes {
		entries[i] = w.entry(ch.result, client)
	}
	ids, err := w.store.Put(ctx, entries...)
	if err != nil {
		return err
	}
	for i := range changes {
		changes[i].segment = ids[i]
	}
	return nil
}

// entry returns a result in the form of the ledger.
func (c *conversation) entry(r *result, client string) contextgc.Entry {
	k, text := r.key, r.text(c.body)
	e := contextgc.Entry{Text: text, Key: k[:], Segment: ledger.Result(r.use.call, text)}
	e.Project, e.Session, e.Tokens = c.project(client), c.session, tokens.OfJSON(r.bytes)
	return e
}

// project returns the ledger's name of the project in which the client says it works, or the client's name.
func (c *conversation) project(client string) string {
	if folder := c.workingFolder(); folder != "" {
		return contextgc.ProjectOf(folder)
	}
	return contextgc.CleanID(client)
}

// folderMarks stand before the folder in which a client says it works. The last two are those of Gemini CLI.
var folderMarks = []string{"orking directory: /", "<cwd>/", "orking in the directory: /", `Workspace Directories:**\n  - /`}

// workingFolder returns the folder in which the client says it works, or "". It is read from the system prompt and then
// from the words before the first answer: a tool's result could name any folder.
func (c *conversation) workingFolder() string {
	if c.looked {
		return c.folder
	}
	c.looked = true
	for _, words := range append([]span{c.system}, c.turns[0].words...) {
		for _, mark := range folderMarks {
			_, rest, found := bytes.Cut(words.of(c.body), []byte(mark))
			if end := bytes.IndexAny(rest[:min(len(rest), 4096)], "\"<\\\n"); found && end > 0 {
				c.folder = "/" + string(rest[:end])
				return c.folder
			}
		}
	}
	return ""
}

// prune prunes new results, using the session's history so far.
func (w *walk) prune(ctx context.Context) {
	last := len(w.turns) - 1
	if !w.prunes {
		return
	}
	for _, r := range w.turns[last].results {
		if write := w.cut(ctx, r); write != nil {
			w.pruned = append(w.pruned, change{result: r, write: write, why: "fresh"})
		}
	}
}

// cut returns a function that writes a new result without the parts that the agent is not looking for, or nil if the
// result stays whole. The way back is part of the header and is never searched for in the text, which may contain anything.
func (w *walk) cut(ctx context.Context, r *result) func(way string) string {
	if r.fixed || r.bytes < history.MinTokens { // a token has at least one byte
		return nil
	}
	known := existing.Result{Call: r.use.call, Args: r.use.args, Body: existing.NewBody(r.use.call.Kind, r.text(w.body))}
	if !known.Know(w.log(r.turn), w.others).Prune {
		return nil
	}
	kept, err := existing.Prune(ctx, known)
	if err != nil || kept.Whole() {
		return nil
	}
	return func(way string) string { return existing.Text(known.Body, kept, way) }
}

// log returns the history before the results of a turn.
func (w *walk) log(turn int) *history.Log {
	log := &history.Log{}
	for i, t := range w.turns[:turn] {
		if i > 0 {
			log.Turn()
		}
		for _, v := range t.words {
			log.User(v.text(w.body))
		}
		for _, r := range t.results {
			log.Say(r.use.why)
			log.Use(r.use.call)
			if i > turn-20 {
				log.Result(r.use.call, r.text(w.body))
			}
		}
	}
	log.Turn()
	for _, r := range w.turns[turn].results {
		log.Say(r.use.why)
	}
	return log
}
