package learned

import (
	"path"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// source is a part of the request or session that supplies terms.
type source int

// The sources. Each has features of its own.
const (
	asked      source = iota // the question
	called                   // the tool's arguments
	saidNow                  // the latest message
	saidRecent               // the messages shortly before it
	saidBefore               // earlier messages
	searched                 // patterns searched for
	visited                  // names of files read or edited
	edited                   // edits of this file
	elsewhere                // edits of other files
	shown                    // outputs of tools
	anything                 // all of the above, recent ones weighted more
	sources
)

// sourceNames are used in the names of features and in explanations.
var sourceNames = [sources]string{"question", "arguments", "last words", "recent words", "earlier words", "searches", "files visited",
	"edits of this file", "other edits", "earlier outputs", "session"}

// Limits of how much of a session is read.
const (
	maxEvents    = 60
	maxEventText = 6000 // bytes of one event
)

// vocabulary holds every term of the session with its weight in each source.
type vocabulary struct {
	id     map[term]int32
	weight [][sources]uint8
	count  [sources]int32 // number of distinct terms
}

func (v *vocabulary) add(s source, text string, weight, share int) {
	eachTerm(text[:min(len(text), maxEventText)], func(t term, compound bool) {
		if stopWords[t] {
			return
		}
		w := weight
		if compound {
			w = w * 3 / 2
		}
		id, ok := v.id[t]
		if !ok {
			id = int32(len(v.weight))
			v.id[t] = id
			v.weight = append(v.weight, [sources]uint8{})
		}
		row := &v.weight[id]
		if row[s] == 0 {
			v.count[s]++
		}
		row[s] = max(row[s], uint8(min(w, 255)))
		if all := w * share / 16; all > 0 {
			row[anything] = max(row[anything], uint8(min(all, 255)))
		}
	})
}

// newVocabulary collects the terms of the question, the arguments and the events.
func newVocabulary(in *Input) *vocabulary {
	v := &vocabulary{id: make(map[term]int32, 512)}
	v.add(asked, in.Question, 16, 16)
	v.add(called, in.Pattern, 16, 16)
	v.add(called, in.Command, 12, 16)
	v.add(called, path.Base(in.File), 8, 8)
	said, others := 0, 0
	for i, e := range in.Events {
		if i == maxEvents {
			break
		}
		switch e.Kind {
		case session.Say:
			v.say(e.Text, said)
			said++
		case session.Search:
			v.add(searched, e.Text, max(16-others, 4), max(14-others, 4))
		case session.Read:
			v.add(visited, path.Base(e.File), max(16-others, 4), max(8-others, 2))
		case session.Edit:
			v.add(visited, path.Base(e.File), max(16-others, 4), max(8-others, 2))
			if sameFile(e.File, in.File) {
				v.add(edited, e.Text, max(16-others, 4), max(10-others, 3))
			} else {
				v.add(elsewhere, e.Text, max(16-others, 4), max(10-others, 3))
			}
		case session.Result:
			v.add(shown, e.Text, max(16-others, 4), max(4-others, 1))
		}
		if e.Kind != session.Say {
			others++
		}
	}
	for i := range v.weight {
		if v.weight[i][anything] > 0 {
			v.count[anything]++
		}
	}
	return v
}

// say adds the nth message, counted backwards from the latest.
func (v *vocabulary) say(text string, n int) {
	switch {
	case n == 0:
		v.add(saidNow, text, 16, 16)
	case n < 3:
		v.add(saidRecent, text, 18-2*n, 14)
	case n < 10:
		v.add(saidBefore, text, 18-n, 12-n)
	default:
		v.add(saidBefore, text, 6, 3)
	}
}

// sameFile compares the trailing components that both paths have, since one of them may be relative.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	a, b = path.Clean(strings.ReplaceAll(a, `\`, "/")), path.Clean(strings.ReplaceAll(b, `\`, "/"))
	if len(a) < len(b) {
		a, b = b, a
	}
	return a == b || strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "/"))
}
