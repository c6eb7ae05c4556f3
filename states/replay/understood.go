package replay

import (
	"cmp"
	"slices"
	"strings"
)

// understoodSays is the number of the agent's next sayings that show what it understood of a text.
const understoodSays = 2

// everyday are compound names that need no text to be known.
var everyday = []string{"GitHub", "JavaScript", "TypeScript", "node_modules", "__init__", "__main__", "macOS", "OpenAI", "PostgreSQL", "SQLite"}

// understood applies the rule of understanding to what the agent says: two or more identifiers, or a number with its key, that nothing
// else had shown. Two identifiers count together: neither is missed where the text still shows the other one.
func (g *goldFinder) understood(words string) {
	if strings.TrimSpace(words) == "" {
		return
	}
	together := map[*shownText][]*name{}
	seen := map[string]bool{}
	for _, id := range identifiers(words) {
		n := g.names.wide[id]
		if seen[id] || n == nil || !g.fresh(n) || slices.Contains(everyday, id) {
			continue
		}
		seen[id] = true
		latest := n.places[len(n.places)-1]
		together[latest.text] = append(together[latest.text], n)
	}
	for _, list := range together {
		g.pairs(list)
	}
	for _, number := range numbers(words) {
		n := g.names.short[strings.Trim(number, ".-")]
		if n != nil && g.fresh(n) && keyIn(n.places[len(n.places)-1], strings.Trim(number, ".-"), words) {
			g.lacks(n)
		}
	}
	g.says++
}

// fresh reports whether a name stands in results only, the latest of which the agent was shown a saying or two ago.
func (g *goldFinder) fresh(n *name) bool {
	if n.known || len(n.places) == 0 || len(n.places) > maxPlaces {
		return false
	}
	return g.says-n.places[len(n.places)-1].text.said < understoodSays
}

// pairs marks identifiers of one text that are said together, each with its neighbour in the text.
func (g *goldFinder) pairs(list []*name) {
	if len(list) < 2 {
		return
	}
	line := func(n *name) int { return n.places[len(n.places)-1].line }
	slices.SortStableFunc(list, func(a, b *name) int { return cmp.Compare(line(a), line(b)) })
	for i, n := range list {
		other := list[max(i-1, 0)]
		if i == 0 {
			other = list[1]
		}
		g.lacks(n, other.at()...)
	}
}

// at returns everywhere that the context shows a name.
func (n *name) at() (places []needPlace) {
	for _, p := range n.places {
		places = append(places, needPlace{p.text.result, p.line})
	}
	return places
}

// lacks marks the latest line that shows a name, which is missed only if all others are cut, and those given.
func (g *goldFinder) lacks(n *name, also ...needPlace) {
	latest := n.places[len(n.places)-1]
	places := n.at()
	g.mark(latest.text, latest.line, ruleUnderstood, append(places[:len(places)-1], also...)...)
}

// keyIn reports whether the line that shows a number has a key for it that stands in the words, too.
func keyIn(at lineAt, number, words string) bool {
	for _, m := range keyed().FindAllStringSubmatch(at.text.text.Lines[at.line], -1) {
		key, _, found := strings.Cut(strings.ReplaceAll(m[0], ":", "="), "=")
		if key = strings.Trim(key, "\" "); found && strings.Trim(m[1], "@./-") == number && len(key) > 2 && strings.Contains(words, key) {
			return true
		}
	}
	return false
}
