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
	name, _ := json.Marshal(session) // a text
	wanted := func(line []byte) bool {
		return bytes.Contains(line, name) || bytes.Contains(line, []byte(`"back":true`))
	}
	ids := map[string]bool{}
	for _, n := range endOfNotes(dir, latestBytes, wanted) {
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

// Done says what was done, "" if nothing was. saved is the account at the end of the latest turn, nil if it is not known: it knows of
// files that were read again and of what the proxy cleared, too.
func (s noteSum) Done(saved *GainPart) string {
	again, cleared, line := s.back, 0, "mcp-pruner: "
	if saved != nil {
		again, cleared = max(again, saved.Again), saved.Cleared
	}
	switch {
	case s.cut > 0:
		line += fmt.Sprintf("%s cut, %s tokens less", terminal.Count(s.cut, "result"), short(s.tokens))
		if cleared > 0 {
			line += fmt.Sprintf(", %d cleared", cleared)
		}
	case cleared > 0:
		line += terminal.Count(cleared, "result") + " cleared"
	default:
		return ""
	}
	if again > 0 {
		line += fmt.Sprintf(", %d fetched again", again)
	}
	return line
}

// Line is Done with what remains. Where the net is not known, none is claimed.
func (s noteSum) Line(saved *GainPart) string {
	line := s.Done(saved)
	switch {
	case line == "":
	case saved != nil:
		line += ", net " + saved.Worth()
	case s.back > 0:
		line += fmt.Sprintf(" (%s, and a further turn each)", short(s.fetched))
	}
	return line
}

// Worth says the net in tokens, in percent of the bill, and in money where the price is known.
func (a GainPart) Worth() string {
	text := fmt.Sprintf("%s fresh input tokens (%+.1f %%", short(int(a.Net)), a.Pct)
	if a.Net >= 1 {
		text = "+" + text
	}
	if money := Money(a.Dollars); money != "" {
		text += ", " + money + " at list price"
	}
	return text + ")"
}

// Money returns an amount in dollars with its sign, "" for less than half a cent: a price that is not known comes to nothing.
func Money(dollars float64) string {
	text := fmt.Sprintf("%+.2f", dollars)
	if text[1:] == "0.00" {
		return ""
	}
	return text[:1] + "$" + text[1:]
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
