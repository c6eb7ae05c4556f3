package upstream

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"strings"
)

// maxTools is the maximum number of tools per server. Further tools become the actions of
// one last tool.
const maxTools = 12

// autoGroup groups the tools of one server by noun. The result depends on the set of tools
// only, not on their order.
func autoGroup(namespace string, tools []Definition, leaveOut map[string]bool) Mapping {
	m := Mapping{Namespace: namespace, Groups: map[string]Group{}}
	names := namesOf(tools, leaveOut)
	grouped := byNoun(names)
	byTool := map[string]parsedName{}
	for _, n := range names {
		byTool[n.tool] = n
	}
	for _, noun := range slices.Sorted(maps.Keys(grouped)) {
		members := grouped[noun]
		if len(members) == 1 {
			m.Groups[freeNoun(m.Groups, byTool[members[0]].whole())] = Group{Tool: members[0]}
			continue
		}
		m.Groups[freeNoun(m.Groups, noun)] = Group{Actions: actionsOf(noun, members, byTool)}
	}
	return m
}

func freeNoun(groups map[string]Group, noun string) string {
	for {
		if _, taken := groups[noun]; !taken {
			return noun
		}
		noun += "_tools"
	}
}

// parsedName is a tool's name, split into words.
type parsedName struct {
	tool   string
	prefix []string // words with which all names begin
	words  []string // the remaining words
	verb   string
	nouns  []string // words without the verb, in the singular
}

func (n parsedName) whole() string { return strings.Join(n.words, "_") }

func namesOf(tools []Definition, leaveOut map[string]bool) []parsedName {
	var names []parsedName
	for _, t := range tools {
		if !leaveOut[t.Name] && !t.cyclic {
			names = append(names, parsedName{tool: t.Name, words: splitName(t.Name)})
		}
	}
	slices.SortFunc(names, func(a, b parsedName) int { return cmp.Compare(a.tool, b.tool) })
	stripShared(names)
	for i := range names {
		n := &names[i]
		n.verb, n.nouns = splitVerb(n.words)
	}
	return names
}

// stripShared removes the words with which all names begin, as long as every name keeps at
// least one word. A verb shared by all names is kept.
func stripShared(names []parsedName) {
	for len(names) > 1 {
		first := ""
		for i, n := range names {
			if len(n.words) < 2 || i > 0 && n.words[0] != first {
				return
			}
			first = n.words[0]
		}
		if IsVerb(first) {
			return
		}
		for i := range names {
			names[i].prefix = append(names[i].prefix, first)
			names[i].words = names[i].words[1:]
		}
	}
}

func splitVerb(words []string) (verb string, nouns []string) {
	rest := words
	switch last := len(words) - 1; {
	case last < 0:
		return "", nil
	case IsVerb(words[0]):
		verb, rest = words[0], words[1:]
	case agentVerb(words[last]) != "" && last > 0:
		verb, rest = agentVerb(words[last]), words[:last]
	case IsVerb(words[last]) && last > 0:
		verb, rest = words[last], words[:last]
	}
	for len(rest) > 2 && joinsWords(rest[0]) && IsVerb(rest[1]) { // create_or_update_file
		rest = rest[2:]
	}
	for _, w := range rest {
		if noise[w] {
			break // list_directory_with_sizes, update_pull_request_by_id
		}
		if !isArticle(w) { // retrieve_a_page
			nouns = append(nouns, singularOf(w))
		}
	}
	if len(nouns) == 0 && verb == "" && len(words) > 0 {
		nouns = []string{singularOf(words[0])}
	}
	return verb, nouns
}

// noise are words after which a name says how the tool works, not on what.
var noise = WordSet("with by for from to in of on via as using")

// byNoun puts every tool into the group of the noun that most tools share, and of the
// longer noun in a tie. Tools without a shared noun become the actions of one last tool, as
// do the smallest groups when there are too many.
func byNoun(names []parsedName) map[string][]string {
	groups := map[string][]string{}
	members := map[string][]int{} // by candidate
	open := make([]bool, len(names))
	for i, n := range names {
		open[i] = true
		for _, candidate := range candidates(n) {
			members[candidate] = append(members[candidate], i)
		}
	}
	queue := make(nounQueue, 0, len(members))
	for candidate, list := range members {
		queue = append(queue, sharedNoun{candidate, len(list)})
	}
	heap.Init(&queue)
	for len(queue) > 0 && queue[0].tools > 1 {
		best := &queue[0]
		left := slices.DeleteFunc(members[best.noun], func(i int) bool { return !open[i] })
		members[best.noun] = left
		if len(left) < best.tools { // some of its tools have found another group meanwhile
			best.tools = len(left)
			heap.Fix(&queue, 0)
			continue
		}
		for _, i := range left {
			groups[best.noun] = append(groups[best.noun], names[i].tool)
			open[i] = false
		}
		heap.Pop(&queue)
	}
	var alone []string
	for i, n := range names {
		if open[i] {
			alone = append(alone, n.tool)
		}
	}
	return limitGroups(groups, alone, names)
}

// sharedNoun is a noun with the number of tools that share it.
type sharedNoun struct {
	noun  string
	tools int
}

// nounQueue is a heap: the noun of most tools first, then the longest, then the first in the alphabet.
type nounQueue []sharedNoun

func (q nounQueue) Len() int { return len(q) }
func (q nounQueue) Less(i, j int) bool {
	a, b := q[i], q[j]
	return cmp.Or(cmp.Compare(b.tools, a.tools), cmp.Compare(strings.Count(b.noun, "_"), strings.Count(a.noun, "_")), cmp.Compare(a.noun, b.noun)) < 0
}
func (q nounQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *nounQueue) Push(any)     {} // nouns are never added
func (q *nounQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// candidates returns the nouns under which a tool may be grouped: each prefix of its noun
// words, and the last word alone (search_museum_objects: object). A word that says which one, like current, is no noun
// by itself.
func candidates(n parsedName) []string {
	var out []string
	for i := 1; i <= min(len(n.nouns), 3); i++ {
		if isNoun(n.nouns[i-1]) {
			out = append(out, strings.Join(n.nouns[:i], "_"))
		}
	}
	if len(n.nouns) > 1 {
		last := n.nouns[len(n.nouns)-1]
		if isNoun(last) && !slices.Contains(out, last) {
			out = append(out, last)
		}
	}
	return out
}

// limitGroups joins the tools without a shared noun, and then the smallest groups, until at
// most maxTools are left. The joined tool is named after the prefix of all tools. If it is
// the only tool, it has no noun of its own.
func limitGroups(groups map[string][]string, alone []string, names []parsedName) map[string][]string {
	order := slices.SortedFunc(maps.Keys(groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(groups[a]), len(groups[b])), cmp.Compare(a, b))
	})
	joins := len(alone) > 0 || len(groups) > maxTools
	for _, key := range order {
		pair := joins && len(groups[key]) <= smallest
		if !pair && len(groups) < maxTools {
			continue
		}
		alone = append(alone, groups[key]...)
		delete(groups, key)
	}
	if len(alone) == 0 {
		return groups
	}
	noun := joinedNoun
	if prefix := names[0].prefix; len(prefix) > 0 {
		noun = prefix[len(prefix)-1]
	}
	if len(groups) == 0 {
		noun = ""
	}
	slices.Sort(alone)
	groups[noun] = append(alone, groups[noun]...)
	return groups
}

// smallest is the number of tools in a group that is not worth a tool of its own beside
// others: its name and action parameter would cost more tokens than they are worth.
const smallest = 2

// joinedNoun is the noun of the tool for everything without a shared noun.
const joinedNoun = "more"

// actionsOf names the actions of a group: the tool's name without the noun, or the whole
// name if nothing would be left or the short name is taken.
func actionsOf(noun string, members []string, names map[string]parsedName) map[string]Route {
	short := map[string][]string{}
	for _, tool := range members {
		a := actionName(noun, names[tool])
		short[a] = append(short[a], tool)
	}
	actions := map[string]Route{}
	for a, tools := range short {
		for _, tool := range tools {
			name := a
			if len(tools) > 1 {
				name = names[tool].whole()
			}
			if _, taken := actions[name]; taken || name == "" {
				name = tool
			}
			actions[name] = Route{Tool: tool}
		}
	}
	return actions
}

func actionName(noun string, n parsedName) string {
	parts := strings.Split(noun, "_")
	words := slices.Clone(n.words)
	for i := 0; i+len(parts) <= len(words); i++ {
		match := true
		for j, p := range parts {
			if singularOf(words[i+j]) != p {
				match = false
			}
		}
		if match {
			words = slices.Delete(words, i, i+len(parts))
			break
		}
	}
	if len(words) == 1 && agentVerb(words[0]) != "" {
		words[0] = agentVerb(words[0])
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, "_")
}
