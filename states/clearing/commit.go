package clearing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// commit stores the originals, runs the request machine for the results and stores the replacements. Only
// after that are they applied. Thinking that is left out has a segment without a text, and leads to no original.
func (w *walk) commit(ctx context.Context, client string, changes []change, free bool) error {
	if err := w.keep(ctx, client, changes); err != nil {
		if errors.Is(err, errLater) {
			return w.stay(ctx)
		}
		return err
	}
	var list []contextgc.Clearing
	changes = slices.DeleteFunc(changes, func(ch change) bool {
		if ch.result.Thought {
			list = append(list, contextgc.Clearing{Item: ch.result.Key, Segment: ch.segment, Stub: leftOut, Tokens: tokens.OfJSON(ch.result.Bytes), Free: free})
		}
		return ch.result.Thought
	})
	unused, err := w.claim(ctx, changes)
	defer func() {
		for id := range unused {
			w.Index.Release(ctx, id)
		}
	}()
	if err != nil {
		return err
	}
	replaced, err := w.run(ctx, client, changes)
	if err != nil {
		return err
	}
	thoughts := len(list)
	for _, ch := range changes {
		if text, ok := replaced[ch.result.Index]; ok {
			list = append(list, contextgc.Clearing{Item: ch.result.Key, Segment: ch.segment, Stub: text,
				Tokens: w.item(ch.result).Tokens, Free: free})
		}
	}
	if len(list) == 0 {
		return w.stay(ctx)
	}
	if gaveWay, err := w.flush(ctx); err != nil || gaveWay {
		return cmp.Or(err, contextgc.ErrDecided) // another process decided at an earlier place
	}
	place := w.place()
	holds, err := w.Store.Clear(ctx, place, list)
	if err != nil {
		clear(unused) // the decisions may have been stored all the same
		return err
	}
	for _, ch := range changes {
		if slices.ContainsFunc(holds, func(c contextgc.Clearing) bool { return c.Stub == replaced[ch.result.Index] }) {
			delete(unused, ch.id)
		}
	}
	w.fresh += len(holds) - thoughts
	w.mu.Lock()
	w.learn(holds)
	w.since += len(holds)
	w.mu.Unlock()
	w.force(place.ID)
	w.at[len(w.at)-1] = w.head
	w.settle()
	return nil
}

// stay stores that nothing is decided at this place. Another process that has the same history could decide otherwise at the same
// time: of two decisions the first one that is stored holds, and it is stored before the request is sent. A request does not wait
// long for a ledger that is slow or broken, because there is nothing to lose but a cache: the place stays open.
func (w *walk) stay(ctx context.Context) error {
	place := w.place()
	if len(place.Marks) == 0 {
		return nil
	}
	patience := cmp.Or(w.Hurry, stayWithin)
	if w.Bare {
		patience = time.Minute // ctx ends before
	}
	short, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := w.Store.Clear(short, place, nil)
	if errors.Is(err, contextgc.ErrDecided) || w.Bare {
		return err // a gateway is told that it failed
	}
	w.open = err != nil
	return nil
}

// run runs the request machine for the results that are to be replaced. It returns the texts in their places, by index.
func (w *walk) run(ctx context.Context, client string, changes []change) (map[int]string, error) {
	if len(changes) == 0 || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m := w.Machine
	m.Client, m.Session = client, w.Runs.Session(ctx, w.Conversation.Session, client)
	back, size := w.wayBack(client), len(w.Body)
	texts, list := make(map[int]string, len(changes)), make([]existing.Decided, len(changes))
	for i, ch := range changes {
		list[i] = existing.Decided{Call: w.calls[ch.result.Index], Args: ch.result.Use.Args, Text: w.Text(ch.result), ID: ch.id, Segment: ch.segment,
			Shown: ch.write(existing.WayOf(back, ch.id)), Why: ch.why}
		texts[ch.result.Index] = list[i].Shown
		size += w.SizeWith(ch.result, list[i].Shown) - len(w.Body) // the bytes of the request that carries it
	}
	if !m.Replace(ctx, list, size) {
		return nil, ctx.Err()
	}
	if w.SyncLog != nil {
		w.SyncLog() // none of these tools runs now, and what may not overtake the log is the request
	}
	return texts, nil
}

// place returns the place at the end of the history, at which a decision is made now.
func (w *walk) place() contextgc.Place {
	here := w.marks[len(w.marks)-1]
	p := contextgc.Place{Parent: w.head, Marks: make([][32]byte, len(here)), Why: w.why, Pays: w.pays}
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
func (w *walk) claim(ctx context.Context, changes []change) (ids map[string]bool, err error) {
	project := recovery.ProjectOf(folderOf(w.Conversation))
	var entries []recovery.Entry
	var of []int // the change of each entry
	for i, ch := range changes {
		if ch.id != "" {
			continue
		}
		text := w.Text(ch.result)
		if id, e := w.cutBefore(ctx, text); e.Shows(text) { // once the text is cleared, the same id brings the original back
			changes[i].id = id
			continue
		}
		if changes[i].id = w.recovered(ctx, ch.result); changes[i].id != "" {
			continue
		}
		entries, of = append(entries, w.entry(ch.result, project)), append(of, i)
	}
	claimed, err := w.Index.Claim(ctx, entries...)
	ids = make(map[string]bool, len(claimed))
	for n, id := range claimed {
		changes[of[n]].id, ids[id] = id, true
	}
	return ids, err
}

func (w *walk) entry(r *wire.Result, project string) recovery.Entry {
	text := w.Text(r)
	return recovery.NewEntry(sha256.Sum256([]byte(text)), w.Store.Name(), project, ledger.Result(w.calls[r.Index], text).FirstLine)
}

// restore takes the id in the stub of a cleared result, and writes it anew if the index of this machine has lost it. An id that a hook gave
// leads to no ledger. Each id is looked up once in the life of a process, and the first one of a request each time: if that is lost, all may be.
func (w *walk) restore(r *wire.Result, d *decision) {
	id := recovery.IDIn(d.text)
	w.ids[id] = true
	index, local := w.Index.(Files)
	if !local || id == "" || w.indexed && d.indexed.Load() {
		return
	}
	if _, err := index.Index.Find(id); err == nil {
		w.indexed = true
		d.indexed.Store(true)
	} else if id != existing.CutID(w.Text(r)) {
		_ = index.Put(id, w.entry(r, recovery.ProjectOf(folderOf(w.Conversation))))
	}
}

// cutBefore returns the id in the header of a text that a hook seems to have cut, and its entry, if the agent may read the original;
// "" for any other text. Whether it is what the hook showed, and not a text that only begins like it, the entry knows.
func (w *walk) cutBefore(ctx context.Context, text string) (id string, e recovery.Entry) {
	if id = existing.CutID(text); id == "" {
		return "", e
	}
	e, err := w.Index.Find(ctx, id)
	if err != nil || !e.MayBeReadIn(folderOf(w.Conversation)) {
		return "", recovery.Entry{}
	}
	return id, e
}

// recovered returns the id of the original that a result is, whole, because the agent brought it back; "" for any other result.
func (w *walk) recovered(ctx context.Context, r *wire.Result) string {
	call, ids := w.calls[r.Index], w.named(r)
	if !call.Recovers || len(ids) == 0 {
		return ""
	}
	e, err := w.Index.Find(ctx, ids[0])
	if err != nil || !e.MayBeReadIn(folderOf(w.Conversation)) {
		return ""
	}
	text := w.Text(r)
	for _, shown := range []string{text, existing.ResultBody(call, text).Code()} {
		if e.Is(shown) || e.Is(shown+"\n") { // clients remove the end of the last line
			return ids[0]
		}
	}
	return ""
}

// errLater says that a request cannot wait until all originals are stored.
var errLater = errors.New("the rest of the originals is stored after the request")

// keep stores the originals and records the ids of their segments in changes. What would take more than a quarter of the time that the
// request has is left to Flush: a later request decides.
func (w *walk) keep(ctx context.Context, client string, changes []change) error {
	entries := make([]contextgc.Entry, len(changes))
	for i, ch := range changes {
		entries[i] = Entry(w.Conversation, ch.result, client)
	}
	for began, done := time.Now(), 0; done < len(entries); {
		if end, bounded := ctx.Deadline(); bounded && done > 0 && time.Since(began) > time.Until(end)/3 {
			w.leave(entries[done:])
			return errLater
		}
		ids, err := w.Store.Put(ctx, entries[done:min(done+putAtOnce, len(entries))]...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			changes[done].segment = id
			done++
		}
	}
	return nil
}

// folderOf returns the folder in which a conversation's client works: the last one that it names and that exists here; "" if there is
// none, because originals of a folder that nobody can go to could not be recovered. A client that was authenticated may be on
// another machine, and is believed.
func folderOf(c *wire.Conversation) string {
	for _, folder := range slices.Backward(c.Folders()) {
		if info, err := os.Stat(folder); c.Owner != "" || err == nil && info.IsDir() {
			return folder
		}
	}
	return ""
}

// Entry returns a result in the form of the ledger.
func Entry(c *wire.Conversation, r *wire.Result, client string) contextgc.Entry {
	k := r.Key
	e := contextgc.Entry{Key: k[:]}
	if r.Thought {
		e.Tool, e.Tokens = "thinking", tokens.OfJSON(r.Bytes)
	} else {
		e.Text = c.Text(r)
		call := callOf(r)
		e.Segment = ledger.Result(call, e.Text)
		e.Tokens = tokens.Claude(e.Text)
		if r.Arguments {
			e.Type, e.Path = contextgc.Code, call.File
		} else {
			e.Called = contextgc.CallKey(c.Session, r.ID)
		}
	}
	e.Subject, e.Project, e.Session = c.Owner, contextgc.CleanID(client), c.Session
	if folder := folderOf(c); folder != "" {
		e.Project = contextgc.ProjectOf(folder)
	}
	return e
}
