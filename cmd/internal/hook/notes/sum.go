package notes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Sum is what the hooks did in one session.
type Sum struct {
	cut, back       int // results
	tokens, fetched int // cut, and brought back
}

// SumOf returns what was done in a session. It decodes only the lines that may be of it, because a client waits for its status line.
func SumOf(dir, session string) (s Sum) {
	name, err := json.Marshal(session)
	if err != nil {
		return s
	}
	wanted := func(line []byte) bool {
		return bytes.Contains(line, name) || bytes.Contains(line, []byte(`"back":true`))
	}
	ids := map[string]bool{}
	for _, n := range latest(dir, wanted) {
		switch {
		case n.Back && ids[n.ID]:
			s.back++
			s.fetched += n.Sent
		case n.Session == session && !n.Back:
			ids[n.ID] = true
			s.cut++
			s.tokens += n.Tokens - n.Sent
		}
	}
	return s
}

// String returns the sum as one line, "" if nothing was cut.
func (s Sum) String() string {
	if s.cut == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mcp-pruner: %s cut, %s tokens less", Counted(s.cut, "result"), short(s.tokens))
	if s.back > 0 {
		fmt.Fprintf(&b, ", %d brought back (%s), net %s", s.back, short(s.fetched), short(s.tokens-s.fetched))
	}
	return b.String()
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

// Counted returns a number with a noun.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
