package view

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Summary is one session in the list of sessions.
type Summary struct {
	Key     string `json:"key"`
	ID      string `json:"id"`
	Client  string `json:"client"`
	Project string `json:"project,omitempty"`
	Model   string `json:"model,omitempty"`
	Sub     bool   `json:"sub,omitempty"` // of a sub-agent
	Begun   int64  `json:"begun,omitempty"`
	At      int64  `json:"at"`    // of the last change; both in ms since 1970
	Known   bool   `json:"known"` // false: not read yet

	Calls  int     `json:"calls"`
	Prompt int     `json:"prompt"` // tokens of the last one
	Bill   float64 `json:"bill"`   // in fresh input tokens, as the net
	Cut    int     `json:"cut"`    // results
	Tokens int     `json:"tokens"` // cut away
	Again  int     `json:"again"`  // results of which parts were fetched again

	Net      float64 `json:"net"` // of all, with re-reads charged
	Gross    float64 `json:"gross"`
	Rereads  float64 `json:"rereads"`
	Clearing float64 `json:"clearing"`
	Pct      float64 `json:"pct"`   // net in percent of what the session would have cost
	Money    string  `json:"money"` // net at list price; "": not known
}

// maxFiles is the number of transcripts, the latest ones, that are listed.
const maxFiles = 1000

// Index is the list of sessions. It reads each transcript once, and again when it has changed.
type Index struct {
	Sources Sources

	mu    sync.Mutex
	files map[string]*indexed // by path
}

type indexed struct {
	transcript
	read     string // the stamp at which it was read
	cuts     int    // notes at that time
	sessions []Summary
}

// Look takes note of the files that there are now and reports whether any is new, changed or gone.
func (x *Index) Look() (changed bool, err error) {
	list, err := x.Sources.transcripts()
	if err != nil {
		return false, err
	}
	list = list[:min(len(list), maxFiles)]
	noted := notesOf(x.Sources.notes())
	x.mu.Lock()
	defer x.mu.Unlock()
	files := make(map[string]*indexed, len(list))
	for _, t := range list {
		f := x.files[t.path]
		if f == nil {
			f = &indexed{sessions: []Summary{{Key: keyOf(t.path, ""), ID: nameOf(t.path), Client: t.client, Sub: subAgent(t.path)}}}
		}
		if cuts := len(noted.cuts[t.path]) + noted.back; f.stamp() != t.stamp() || f.cuts != cuts {
			changed, f.read, f.cuts = true, "", cuts
		}
		f.transcript = t
		files[t.path] = f
	}
	changed = changed || len(files) != len(x.files)
	x.files = files
	return changed, nil
}

// Read reads the files that have changed, the latest first, and calls step now and then. It returns when nothing is left to read.
func (x *Index) Read(ctx context.Context, step func()) {
	noted := notesOf(x.Sources.notes())
	proxied := map[string]hook.Proxied{}
	list, _ := hook.ProxiedIn(ctx, x.Sources.Ledger) // the window of a session says why there is none
	for _, p := range list {
		proxied[p.Usage.Session] = p
	}
	last := time.Now()
	for ctx.Err() == nil {
		t, ok := x.next()
		if !ok {
			break
		}
		list := summaries(ctx, t, noted, proxied)
		x.mu.Lock()
		if f := x.files[t.path]; f != nil && f.stamp() == t.stamp() {
			f.read, f.sessions = t.stamp(), list
		}
		x.mu.Unlock()
		if time.Since(last) > stepEvery {
			step()
			last = time.Now()
		}
	}
	step()
}

// stepEvery is the time between two steps of a long reading.
const stepEvery = 300 * time.Millisecond

// next returns the file changed last of those that are to be read.
func (x *Index) next() (t transcript, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.files {
		if f.read != f.stamp() && (!ok || f.at.After(t.at)) {
			t, ok = f.transcript, true
		}
	}
	return t, ok
}

// List returns the sessions, those changed last first.
func (x *Index) List() []Summary {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := []Summary{}
	for _, f := range x.files {
		for _, s := range f.sessions {
			s.At = max(s.At, f.at.UnixMilli())
			if len(f.sessions) > 1 { // a database's own time is that of its last session
				s.At = cmp.Or(s.Begun, s.At)
			}
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Summary) int { return cmp.Or(cmp.Compare(b.At, a.At), cmp.Compare(a.Key, b.Key)) })
	return list
}

// Find returns the file of a session.
func (x *Index) Find(key string) (t transcript, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, f := range x.files {
		if slices.ContainsFunc(f.sessions, func(s Summary) bool { return s.Key == key }) {
			return f.transcript, true
		}
	}
	return t, false
}

// summaries reads a file. A file in which no session can be read is listed as one without calls.
func summaries(ctx context.Context, t transcript, noted noted, proxied map[string]hook.Proxied) (list []Summary) {
	each(ctx, t.path, func(s sessions.Session) {
		list = append(list, summaryOf(t, sessions.Billed(s, nil), noted.of(t.path, s.ID), proxied[contextgc.SessionID(s.ID)]))
	})
	if len(list) == 0 {
		list = []Summary{{Key: keyOf(t.path, ""), ID: nameOf(t.path), Client: t.client, Known: true, Sub: subAgent(t.path)}}
	}
	if len(list) == 1 { // it keeps the key that it had before it was read
		list[0].Key = keyOf(t.path, "")
	}
	return list
}

func summaryOf(t transcript, b *sessions.Bill, cuts []hook.Note, by hook.Proxied) Summary {
	s, gain := b.Session, hook.SessionGain(&sessions.Carried{B: b}, cuts, by)
	out := Summary{
		Key: keyOf(t.path, s.ID), ID: s.ID, Client: cmp.Or(t.client, s.Source), Project: s.Project, Model: s.Model(), Sub: subAgent(t.path),
		Known: true, Calls: len(b.Calls), Bill: b.Total, Cut: gain.Results, Tokens: gain.Tokens, Again: gain.Again,
		Net: gain.Net, Gross: gain.Gross, Rereads: gain.Rereads, Clearing: gain.Clearing, Pct: gain.Pct, Money: hook.Money(gain.Dollars),
	}
	if !s.Begun.IsZero() {
		out.Begun = s.Begun.UnixMilli()
	}
	if n := len(b.Calls); n > 0 {
		out.Prompt = b.Calls[n-1].Prompt
	}
	return out
}

// noted are the notes of hooks about cuts, by transcript or, where a client has none, by session.
type noted struct {
	cuts map[string][]hook.Note
	back int // results of which parts were brought back
}

func notesOf(all []hook.Note) noted {
	n := noted{cuts: map[string][]hook.Note{}}
	for _, e := range all {
		switch {
		case e.Back:
			n.back++
		case e.ID != "":
			place := cmp.Or(e.Transcript, e.Session)
			n.cuts[place] = append(n.cuts[place], e)
		}
	}
	return n
}

// of returns the cuts of a session in a file.
func (n noted) of(path, session string) (cuts []hook.Note) {
	for _, e := range n.cuts[path] {
		if e.Session == "" || session == "" || strings.HasPrefix(session, e.Session) { // a sub-agent's name begins with its session's
			cuts = append(cuts, e)
		}
	}
	if session != "" {
		cuts = append(cuts, n.cuts[session]...)
	}
	return cuts
}

// nameOf returns the name of a transcript's file.
func nameOf(path string) string {
	return strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jsonl")
}
