package hook

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// noteSum counts the cuts of the hooks in one session.
type noteSum struct {
	cut, back       int // results
	tokens, fetched int // cut, and brought back
}

// NotesOf returns the notes about a session at the end of the file: what was cut in it, and what was brought back of that. It decodes
// only the lines that may be of it, because a client waits for its status line.
func NotesOf(dir, session string) (list []Note) {
	name, err := json.Marshal(session)
	if err != nil {
		return nil
	}
	wanted := func(line []byte) bool {
		return bytes.Contains(line, name) || bytes.Contains(line, []byte(`"back":true`))
	}
	ids := map[string]bool{}
	for _, n := range endOfNotes(dir, wanted) {
		switch {
		case n.Back && ids[n.ID]:
			list = append(list, n)
		case n.Session == session && !n.Back:
			ids[n.ID] = true
			list = append(list, n)
		}
	}
	return list
}

// SumOf adds up the notes about a session.
func SumOf(list []Note) (s noteSum) {
	for _, n := range list {
		if n.Back {
			s.back++
			s.fetched += n.Sent
			continue
		}
		s.cut++
		s.tokens += n.Tokens - n.Sent
	}
	return s
}

// Done says what was done, "" if nothing was cut. net is that of the latest turn's end, nil if it is not known: it knows of files that
// were read again, too.
func (s noteSum) Done(net *worth) string {
	if s.cut == 0 {
		return ""
	}
	line := fmt.Sprintf("mcp-pruner: %s cut, %s tokens less", terminal.Count(s.cut, "result"), short(s.tokens))
	again := s.back
	if net != nil {
		again = max(again, net.Again)
	}
	if again > 0 {
		line += fmt.Sprintf(", %d fetched again", again)
	}
	return line
}

// Line is Done with what remains. Where the net is not known, none is claimed.
func (s noteSum) Line(net *worth) string {
	line := s.Done(net)
	switch {
	case line == "":
	case net != nil:
		line += fmt.Sprintf(", net %s fresh input tokens", signed(int(net.Tokens)))
	case s.back > 0:
		line += fmt.Sprintf(" (%s, and a further turn each)", short(s.fetched))
	}
	return line
}

// signed returns a number with its sign.
func signed(n int) string {
	if n > 0 {
		return "+" + short(n)
	}
	return short(n)
}

// short returns a number with at most three digits.
func short(n int) string {
	switch {
	case n > -1000 && n < 1000:
		return fmt.Sprint(n)
	case n > -100_000 && n < 100_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n > -1_000_000 && n < 1_000_000:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
