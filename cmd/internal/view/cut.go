package view

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// Cut is one result beside what the agent got of it.
type Cut struct {
	ID       string `json:"id"`
	Question string `json:"question,omitempty"` // the one for which it was cut
	First    int    `json:"first"`              // number of the first line
	Lines    []Line `json:"lines"`
	Left     int    `json:"left,omitempty"` // lines beyond the last one that is listed
	Why      string `json:"why,omitempty"`  // why a part is missing
}

// Line is one line of an original.
type Line struct {
	Text string  `json:"t"`
	Kept bool    `json:"k,omitempty"`
	Why  string  `json:"w,omitempty"` // what the pruner says to it today; "" if that differs from what was done
	At   float64 `json:"s,omitempty"` // its score
}

// mostLines is the number of lines of one result that a page gets.
const mostLines = 20_000

// Cut returns a result that a hook or the proxy cut in a session, line by line.
func (s Sources) Cut(ctx context.Context, path, key, id string) (Cut, bool) {
	o, ok := s.open(ctx, path, key)
	if !ok {
		return Cut{}, false
	}
	for _, e := range o.events() {
		if e.Kind == WasCut && e.ID == id {
			return s.cut(ctx, o, e), true
		}
	}
	return Cut{}, false
}

// cut compares an original with what the agent got of it.
func (s Sources) cut(ctx context.Context, o opened, e Event) Cut {
	text, first, err := s.original(ctx, e.ID)
	if err != nil {
		return Cut{ID: e.ID, Lines: []Line{}, Why: "the original is gone: " + err.Error()}
	}
	shown := []string{e.proxied}
	if e.proxied == "" {
		shown = o.shown(e.Use)
	}
	c := Cut{ID: e.ID, First: first}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var kept map[int]bool
	if len(shown) > 0 {
		kept = keptLines(lines, first, shown)
	} else {
		c.Why = "the transcript has no result of this call yet, so that what was kept is not known"
	}
	why := s.explain(ctx, o, e.Use, text, first, &c)
	for i, line := range lines[:min(len(lines), mostLines)] {
		l := Line{Text: line, Kept: kept[i+1]}
		if i < len(why) && why[i].Kept == l.Kept {
			l.Why, l.At = why[i].Why, why[i].Score
		}
		c.Lines = append(c.Lines, l)
	}
	c.Left = len(lines) - len(c.Lines)
	return c
}

// original returns the text with an id, for the user, who may read those of all projects.
func (s Sources) original(ctx context.Context, id string) (text string, first int, err error) {
	index := ledger.Index(s.Lookup)
	folder := ""
	if e, err := index.Find(id); err == nil {
		folder = e.Project
	}
	text, first, err = ledger.Original(ctx, index, folder, id)
	if errors.Is(err, recovery.ErrNotFound) {
		return s.Ledger.Text(ctx, id)
	}
	return text, first, err
}

// shown returns the texts that the agent got for a call: the result, and what the client added beside it.
func (o opened) shown(call string) (texts []string) {
	for _, step := range o.bill.Session.Steps {
		switch {
		case step.Kind == sessions.Result && step.ID == call && call != "":
			texts = append(texts, step.Out)
		case texts != nil && step.Kind == sessions.Attach:
			texts = append(texts, step.Text)
		case texts != nil && step.Kind == sessions.Call:
			return texts
		}
	}
	return texts
}

// keptLines returns the numbers, from 1, of the original's lines that are in what was shown. Numbered lines are known by their
// numbers. Others follow each other as in the original, and a marker says where the next one is.
func keptLines(lines []string, first int, shown []string) map[int]bool {
	kept := map[int]bool{}
	at := 0
	for i, text := range shown {
		for line := range strings.SplitSeq(text, "\n") {
			if n, code, ok := existing.Numbered(line); ok && n >= first && n-first < len(lines) && lines[n-first] == code {
				kept[n-first+1] = true
				continue
			}
			if i > 0 {
				continue // what the client adds is about other things, too
			}
			if _, to, ok := lineprune.GapRange(line); ok {
				at = max(at, min(to-first+1, len(lines)))
				continue
			}
			if next := slices.Index(lines[at:], line); next >= 0 {
				at += next + 1
				kept[at] = true
			}
		}
	}
	return kept
}

// errFound ends a walk.
var errFound = errors.New("found")

// explain asks the pruner once more, with what the session knew, why it keeps each line.
func (s Sources) explain(ctx context.Context, o opened, call, text string, first int, c *Cut) (why []lineprune.Line) {
	_ = replay.Walk(o.bill, s.Others, func(index int, step sessions.Step, k replay.Known) error {
		if step.ID != call || call == "" {
			return nil
		}
		r := o.bill.Results[index]
		known := existing.Result{Call: r.Parsed, Args: step.Args, Body: bodyOf(r, text, first, k), Question: k.Question, Context: k.Context, Said: k.Said, Prompt: k.Prompt, Own: k.Own,
			Careful: k.Decision.Careful, Noted: k.Body.NumberedByClaude(), Explain: true}
		c.Question = k.Question
		if cut, err := existing.Prune(ctx, known); err == nil {
			why = aligned(cut, known.Body, text)
		}
		return errFound
	})
	return why
}

// bodyOf returns the body that the hook had: of a read the lines of the file, of anything else the whole text.
func bodyOf(r sessions.ResultCost, text string, first int, k replay.Known) existing.Body {
	if r.Kind == history.Read && k.Body.LinesOnly() {
		return existing.Body{Lines: strings.Split(strings.TrimSuffix(text, "\n"), "\n"), First: first, Mark: k.Body.Mark, Pad: k.Body.Pad, OfFile: k.Body.OfFile}
	}
	return existing.NewBody(r.Kind, text)
}

// aligned returns the explanations for the lines of the original, of which the body's lines may be a part.
func aligned(cut existing.Cut, body existing.Body, text string) []lineprune.Line {
	skip := strings.Count(body.Head, "\n")
	if body.LinesOnly() {
		skip = 0
	}
	if skip > strings.Count(text, "\n") {
		return nil
	}
	kept := make(map[int]bool, len(cut.Kept))
	for _, n := range cut.Kept {
		kept[n] = true
	}
	lines := make([]lineprune.Line, skip, skip+len(cut.Lines))
	for i, l := range cut.Lines {
		l.Kept = kept[i+1]
		lines = append(lines, l)
	}
	return lines
}

// Original is a text that can be copied.
type Original struct {
	Text string `json:"text"`
}

// Original returns the text with an id.
func (s Sources) Original(ctx context.Context, id string) (Original, bool) {
	if !recovery.IDPattern().MatchString(id) {
		return Original{}, false
	}
	text, _, err := s.original(ctx, id)
	return Original{text}, err == nil
}
