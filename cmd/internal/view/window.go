package view

import (
	"context"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Window is one session: its prompts, call by call, and what happened to its results.
type Window struct {
	Summary
	Measured bool    `json:"measured"` // the prompts' sizes are the API's, otherwise they are modelled from the texts
	Columns  Columns `json:"columns"`
	Events   []Event `json:"events"`
	Failed   string  `json:"failed,omitempty"` // why a part is missing
}

// Columns has one entry for each model call. Prefix, Results and Rest are what the prompt consists of; Cut and Cleared would be in
// it beside them.
type Columns struct {
	At      []int64  `json:"at"` // ms since the session began; 0: not known
	Prompt  []int    `json:"prompt"`
	Read    []int    `json:"read"`
	Write   []int    `json:"write"`
	Output  []int    `json:"output"`
	Prefix  []int    `json:"prefix"`
	Results []int    `json:"results"`
	Rest    []int    `json:"rest"`
	Cut     []int    `json:"cut"`
	Cleared []int    `json:"cleared"`
	Context []int    `json:"context"` // number of the context; a compaction starts another
	Tools   []string `json:"tools"`   // whose results came before the call
}

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	WasCut       Kind = "cut"
	WasCleared   Kind = "cleared"
	FetchedAgain Kind = "again"
	WasCompacted Kind = "compacted"
)

// Event is something that happened to the window before a model call.
type Event struct {
	Kind   Kind    `json:"kind"`
	Call   int     `json:"call"` // index of the first call after it
	Tool   string  `json:"tool,omitempty"`
	About  string  `json:"about,omitempty"`
	ID     string  `json:"id,omitempty"`  // of the original
	Use    string  `json:"use,omitempty"` // the client's id of the tool call
	Tokens int     `json:"tokens"`        // as it came
	Sent   int     `json:"sent"`          // as it is in the window
	Gross  float64 `json:"gross,omitempty"`
	Cost   float64 `json:"cost,omitempty"`
	Again  int     `json:"again,omitempty"` // how often parts of it were fetched
	Why    string  `json:"why,omitempty"`
	Pays   int     `json:"pays,omitempty"` // calls after which a clearing has paid
	Since  int     `json:"since"`          // calls that there were since
	Back   string  `json:"back,omitempty"` // the command that prints the original

	proxied string // what the proxy sent in place of the result, which the client's record has whole; "": the record has what was sent
}

// opened is a session that was read, with what was noted about it.
type opened struct {
	path    string
	bill    *sessions.Bill
	cuts    []hook.Note
	cleared []contextgc.Cleared
	usage   contextgc.Usage
	failed  string // why the ledger could not be read
}

// open reads a session. ok is false if the file has no such session.
func (s Sources) open(ctx context.Context, path, key string) (o opened, ok bool) {
	noted := notesOf(s.notes())
	alone := key == keyOf(path, "")
	each(ctx, path, func(session sessions.Session) {
		if ok || !alone && keyOf(path, session.ID) != key {
			return
		}
		o, ok = opened{path: path, bill: sessions.Billed(session, nil), cuts: noted.of(path, session.ID)}, true
	})
	if ok {
		var err error
		if o.cleared, o.usage, err = s.Ledger.Session(ctx, contextgc.SessionID(o.bill.Session.ID)); err != nil {
			o.failed = "what the proxy cleared is not shown: " + err.Error()
		}
	}
	return o, ok
}

// Window returns a session's window.
func (s Sources) Window(ctx context.Context, t transcript, key string) (Window, bool) {
	o, ok := s.open(ctx, t.path, key)
	if !ok {
		return Window{}, false
	}
	w := Window{Summary: summaryOf(t, o.bill, o.cuts, hook.Proxied{Usage: o.usage, Changed: o.cleared}), Measured: o.bill.Measured, Failed: o.failed}
	w.Key = key
	w.Events = append(o.events(), o.compactions()...)
	slices.SortStableFunc(w.Events, func(a, b Event) int { return a.Call - b.Call })
	w.Columns = o.columns(w.Events)
	return w, true
}

// columns computes what each prompt consists of.
func (o opened) columns(events []Event) Columns {
	b := o.bill
	n := len(b.Calls)
	ints := func() []int { return make([]int, n) }
	c := Columns{At: make([]int64, n), Prompt: ints(), Read: ints(), Write: ints(), Output: ints(), Prefix: ints(), Results: ints(), Rest: ints(),
		Cut: ints(), Cleared: ints(), Context: ints(), Tools: make([]string, n)}
	_, prefix := b.Contents()
	for i, call := range b.Calls {
		u := call.Usage
		c.At[i], c.Prompt[i], c.Read[i], c.Write[i], c.Output[i] = b.Session.Steps[call.Step].At.Milliseconds(), call.Prompt, u.CacheRead, u.CacheWrite+u.Input, u.Output
		c.Context[i], c.Prefix[i] = call.Context, min(prefix, call.Prompt)
	}
	for _, r := range b.Results {
		o.carry(c.Results, r.Call, r.Tokens)
		if r.Call < n {
			c.Tools[r.Call] = named(c.Tools[r.Call], b.Session.Steps[r.Step].Tool)
		}
	}
	for _, e := range events {
		switch e.Kind {
		case WasCut:
			o.carry(c.Cut, e.Call, e.Tokens-e.Sent)
		case WasCleared:
			o.carry(c.Cleared, e.Call, e.Tokens-e.Sent)
		}
		if e.proxied != "" && e.Use != "" {
			o.carry(c.Results, e.Call, e.Sent-e.Tokens)
		}
	}
	for i := range n {
		c.Results[i] = min(max(c.Results[i], 0), c.Prompt[i]-c.Prefix[i])
		c.Rest[i] = c.Prompt[i] - c.Prefix[i] - c.Results[i]
	}
	return c
}

// mostNamed is the number of bytes that the names of tools before one call take at most.
const mostNamed = 80

func named(list, tool string) string {
	switch {
	case list == "":
		return tool
	case len(list)+len(tool) > mostNamed:
		return list
	}
	return list + ", " + tool
}

// carry adds tokens to all calls of a context from one on.
func (o opened) carry(column []int, from, tokens int) {
	calls := o.bill.Calls
	for i := from; i < len(calls) && calls[i].Context == calls[from].Context; i++ {
		column[i] += tokens
	}
}

// events returns what hooks and the proxy changed in the window. It is never nil.
func (o opened) events() []Event {
	return append(append([]Event{}, o.hookEvents()...), o.proxyEvents()...)
}

// hookEvents returns what hooks cut, each cut followed by what was fetched of it again.
func (o opened) hookEvents() (list []Event) {
	carried := &sessions.Carried{B: o.bill}
	for _, n := range o.cuts {
		e := Event{Kind: WasCut, Tool: n.Tool, About: n.About, ID: n.ID, Use: n.Call, Tokens: n.Tokens, Sent: n.Sent, Back: wayBack(n.ID), Call: o.firstCall(n.Call)}
		e.Since = max(len(o.bill.Calls)-e.Call-1, 0)
		list = append(list, o.saved(carried, e)...)
	}
	return list
}

// saved completes the event of a cut and appends what was fetched of it again.
func (o opened) saved(carried *sessions.Carried, e Event) []Event {
	saved := carried.Saving(e.Use, e.ID, e.Tokens-e.Sent)
	if !saved.Known {
		e.Why = "not in the transcript yet: counted as one write to the cache"
	}
	e.Gross, e.Cost, e.Again = saved.Gross, saved.Rereads, len(saved.Fetches)
	list := []Event{e}
	for _, f := range saved.Fetches {
		list = append(list, Event{Kind: FetchedAgain, Tool: o.bill.Session.Steps[f.Result.Step].Tool, About: e.About, ID: e.ID, Use: e.Use, Call: f.Result.Call,
			Tokens: f.Result.Tokens, Sent: f.Result.Tokens, Cost: f.Price, Back: e.Back})
	}
	return list
}

// firstCall returns the first model call after a result; the number of calls if there is none yet.
func (o opened) firstCall(use string) int {
	for _, r := range o.bill.Results {
		if o.bill.Session.Steps[r.Step].ID == use {
			return r.Call
		}
	}
	return len(o.bill.Calls)
}

func (o opened) compactions() (list []Event) {
	calls := 0
	for _, step := range o.bill.Session.Steps {
		switch step.Kind {
		case sessions.Call:
			calls++
		case sessions.Compact:
			list = append(list, Event{Kind: WasCompacted, Call: calls, Why: "the client summarized its context"})
		}
	}
	return list
}
