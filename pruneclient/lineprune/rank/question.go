package rank

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// synonyms maps a stem to the stems with about the same meaning.
var synonyms = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, line := range doc.List("synonyms") {
		idea := strings.Fields(line)
		for i, w := range idea {
			idea[i] = doc.StemOf(w)
		}
		for _, a := range idea {
			for _, b := range idea {
				if a != b {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	return out
})

// group is one concept of the question: a word, its forms and its synonyms.
type group struct {
	Name   string
	Weight float64
	Bits   float64 // information in bits: how much it says that a text contains the word
}

// ref refers to the group that a word of the text stands for, with a weight.
type ref struct {
	Group  int16
	Weight float32
}

// Question is a parsed question, ready to be matched.
type Question struct {
	Text     string // the question; only its beginning if it is long
	Groups   []group
	Next     [][]int16          // per group, the groups whose word directly follows in the question
	last     int16              // group of the word parsed last, or -1
	Stems    map[string][]ref   // by the stem of an identifier's part
	begins   map[uint][]stemRef // stems by their first three letters
	wholes   map[string][]ref   // by the whole identifier in lower case without underscores
	literals []literal          // text to be found verbatim
	Filter   doc.WordFilter     // of stems and wholes
	typed    bool               // may have typing errors
	unicode  bool               // some word has non-ASCII letters
	Failure  bool               // asks what went wrong
	Warning  bool               // asks for warnings
	Tests    bool               // names tests
	Lists    bool               // asks for all items
	Prose    bool               // names documentation or configuration
}

// literal is a piece of the question that is not a plain word: a path, a version, a quoted phrase.
type literal struct {
	text  string
	group int16
}

// ParseQuestion parses a question.
func ParseQuestion(text string) *Question { return parse(text, true) }

// ParseWords parses an agent's words before a call, in which no typing error is looked for.
func ParseWords(text string) *Question { return parse(text, false) }

func parse(text string, typed bool) *Question {
	if len(text) > doc.MaxQuestion {
		text = strings.ToValidUTF8(text[:doc.MaxQuestion], "")
	}
	q := &Question{Text: text, Stems: map[string][]ref{}, wholes: map[string][]ref{}, last: -1, typed: typed}
	for tok := range strings.FieldsSeq(text) {
		q.addToken(tok)
	}
	doc.EachRuneWord(text, func(w string) { q.unicode = true; q.addStem(w, w, 1) })
	q.addPrefixes()
	q.addSynonyms()
	lowered := strings.ToLower(text)
	q.Failure = hasPhrase(lowered, failureWords())
	q.Warning = strings.Contains(lowered, "warn")
	q.Tests = hasPhrase(" "+lowered, testWords())
	q.Lists = allItemsPattern().MatchString(lowered)
	q.Prose = hasPhrase(lowered, docWords())
	return q
}

// failureTalk holds the stems of words that ask for a failure rather than name a subject.
var (
	failureWords = sync.OnceValue(func() []string { return doc.ListParts("english", "failure") })
	testWords    = sync.OnceValue(func() []string { return doc.ListParts("english", "tests") })
	docWords     = sync.OnceValue(func() []string { return doc.ListParts("english", "documentation") })
	failureTalk  = sync.OnceValue(func() map[string]bool {
		return doc.StemSet(slices.Concat(doc.ListWords("english", "checkers"), doc.ListWords("english", "failure-talk")))
	})
)

// allItemsPattern matches the words by which a question asks for all items.
var allItemsPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(` + strings.ReplaceAll(strings.Join(doc.ListWords("english", "all"), "|"), "-", " ") + `)\b`)
})

// addToken parses one white-space separated piece of the question.
func (q *Question) addToken(tok string) {
	quoted := strings.ContainsAny(tok, "`\"'") && strings.ContainsAny(tok[:1], "`\"'([")
	tok = strings.Trim(tok, "`\"'.,;:?!()[]{}<>…")
	if tok == "" {
		return
	}
	if strings.ContainsAny(tok, "/.:-") && !plainHyphen(tok) && len(tok) > 3 {
		q.literals = append(q.literals, literal{tok, q.newGroup(tok, 1.5)})
	}
	for _, id := range Identifiers(tok) {
		q.addIdentifier(id, quoted)
	}
}

// plainHyphen says whether tok is a hyphenated word rather than a name.
func plainHyphen(tok string) bool {
	return !strings.ContainsAny(tok, "/.:0123456789") && strings.Count(tok, "-") < 2 && strings.ToLower(tok) == tok
}

func Identifiers(tok string) []string {
	return strings.FieldsFunc(tok, func(r rune) bool { return r > 127 || !doc.InWord(doc.ByteClass[r]) })
}

// addIdentifier adds an identifier's parts, and the identifier as a whole when it
// is shaped like one.
func (q *Question) addIdentifier(id string, quoted bool) {
	shaped := quoted || strings.Contains(id, "_") || mixedCase(id)
	var parts []string
	doc.EachPart(id, func(p string) { parts = append(parts, p) })
	boost := 1.0
	if shaped {
		boost = 1.3
	}
	for _, p := range parts {
		q.addWord(strings.ToLower(p), boost)
	}
	if whole := joined(id); shaped && len(whole) > 2 {
		g := q.newGroup(id, 1.3)
		q.Groups[g].Bits = 1 + doc.BitsOf(id) // a name counts, whatever it says elsewhere
		q.wholes[whole] = append(q.wholes[whole], ref{g, 1})
		q.Filter.Add(whole)
	}
}

func joined(id string) string { return strings.ToLower(strings.ReplaceAll(id, "_", "")) }

// mixedCase is true of camelCase, PascalCase with two humps, and CAPS.
func mixedCase(id string) bool {
	if len(id) < 2 {
		return false
	}
	return strings.ToLower(id[1:]) != id[1:] || strings.ContainsAny(id, "0123456789")
}

func (q *Question) addWord(w string, boost float64) {
	if len(w) < 2 {
		return
	}
	if q.typed {
		w = withoutTypo(w)
	}
	weight, known := wordWeight()[w]
	if !known {
		weight = 1
	}
	if weight == 0 {
		return
	}
	q.addStem(doc.StemOf(w), w, weight*boost)
}

// addStem adds a stem under the name of the word it came from.
func (q *Question) addStem(s, name string, weight float64) {
	for _, r := range q.Stems[s] {
		g := &q.Groups[r.Group]
		g.Weight = max(g.Weight, weight)
		q.follow(r.Group)
		return
	}
	g := q.newGroup(name, weight)
	q.Stems[s] = append(q.Stems[s], ref{g, 1})
	q.Filter.Add(s)
	q.follow(g)
}

// follow remembers that a group's word comes next in the question.
func (q *Question) follow(g int16) {
	if q.last >= 0 && q.last != g && len(q.Next[q.last]) < doc.MaxFollowers {
		q.Next[q.last] = append(q.Next[q.last], g)
	}
	q.last = g
}

func (q *Question) newGroup(name string, weight float64) int16 {
	bits := 1 + doc.BitsOf(name)
	if questionTalk()[doc.StemOf(name)] {
		bits = 0
	}
	q.Groups = append(q.Groups, group{name, weight, bits})
	q.Next = append(q.Next, nil)
	return int16(len(q.Groups) - 1)
}

type stemRef struct {
	stem string
	ref  ref
}

// addPrefixes lets a word stand for longer ones that begin with it (heap for
// heappop), and for its abbreviations (param for parameter).
func (q *Question) addPrefixes() {
	q.begins = map[uint][]stemRef{}
	for s, refs := range q.Stems {
		if len(s) >= doc.MinPrefix {
			k := doc.WordKey(s)
			q.begins[k] = append(q.begins[k], stemRef{s, ref{refs[0].Group, float32(doc.Ranking.Prefix)}})
		}
	}
	for _, list := range q.begins {
		slices.SortFunc(list, func(a, b stemRef) int { return strings.Compare(a.stem, b.stem) })
	}
}

// like finds what a stem of the text, unknown itself, begins with or abbreviates.
func (q *Question) like(stem []byte) (ref, bool) {
	if len(stem) < doc.MinPrefix {
		return ref{}, false
	}
	for _, s := range q.begins[doc.WordKey(string(stem))] {
		if strings.HasPrefix(s.stem, string(stem)) || strings.HasPrefix(string(stem), s.stem) {
			return s.ref, true
		}
	}
	return ref{}, false
}

// addSynonyms lets other words stand for the question's, at a discount. Stems are
// visited in order so that the result does not depend on a map's.
func (q *Question) addSynonyms() {
	for _, s := range slices.Sorted(maps.Keys(q.Stems)) {
		r := q.Stems[s][0]
		for _, syn := range synonyms()[s] {
			q.Stems[syn] = append(q.Stems[syn], ref{r.Group, float32(doc.Ranking.Synonym)})
			q.Filter.Add(syn)
		}
	}
}

type keyPath struct {
	Keys  []string
	Group int16
}

// KeyPaths are the question's words that may be paths of keys: services.web.memory.
func (q *Question) KeyPaths() []keyPath {
	var paths []keyPath
	for _, l := range q.literals {
		keys := strings.FieldsFunc(l.text, func(r rune) bool { return r == '.' || r == '/' || r == '[' || r == ']' })
		if len(keys) > 1 {
			paths = append(paths, keyPath{keys, l.group})
		}
	}
	return paths
}

// Asks says whether the question has a word with the stem.
func (q *Question) Asks(stem string) bool { return len(q.Stems[stem]) > 0 }

// Asked is the bits of the whole question.
func (q *Question) Asked() float64 {
	sum := 0.0
	for g := range q.Groups {
		sum += q.BitsOf(int16(g))
	}
	return sum
}

// BitsOf is how much it says that a text has a group's word, weighed by how much the
// question means it.
func (q *Question) BitsOf(g int16) float64 { return float64(q.Groups[g].Weight * q.Groups[g].Bits) }

// wordWeight lowers what questions say whatever they ask about. 0 drops a word.
var wordWeight = sync.OnceValue(func() map[string]float64 {
	out := map[string]float64{}
	for _, w := range doc.ListWords("english", "stop") {
		out[w] = 0
	}
	for _, w := range doc.ListWords("english", "weak") {
		out[w] = 0.3
	}
	return out
})

// questionTalk are the stems of words that questions have whatever they ask about.
var questionTalk = sync.OnceValue(func() map[string]bool { return doc.StemSet(doc.ListWords("english", "talk")) })
