package lineprune

import (
	_ "embed"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// maxQuestion bounds how much of a question is read.
const maxQuestion = 4000

//go:embed synonyms.txt
var synonymTable string

// synonyms maps a stem to the stems that mean about the same.
var synonyms = parseSynonyms(synonymTable)

func parseSynonyms(table string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		for _, a := range words {
			for _, b := range words {
				if stemOf(a) != stemOf(b) {
					out[stemOf(a)] = append(out[stemOf(a)], stemOf(b))
				}
			}
		}
	}
	return out
}

func stemOf(w string) string { return string(stem([]byte(strings.ToLower(w)))) }

// group is one idea of the question: a word, its forms and its synonyms.
type group struct {
	name   string
	weight float64
	bits   float64 // how much it says that a text has it
}

// ref says which group a word of the text stands for, and how well.
type ref struct {
	group  int16
	weight float32
}

// question is what was asked, ready to be matched.
type question struct {
	text     string
	groups   []group
	next     [][]int16          // per group, those whose word follows its own in the question
	last     int16              // group of the word read last, or -1
	stems    map[string][]ref   // stem of an identifier's part
	begins   map[uint][]stemRef // stems by their first three letters
	wholes   map[string][]ref   // identifier without underscores, lower case
	literals []literal          // text to be found as it stands
	filter   filter             // of stems and wholes
	unicode  bool               // some word has letters outside ASCII
	failure  bool               // asks for what went wrong
	warning  bool               // asks for warnings
	tests    bool               // names tests
	lists    bool               // asks for all there are
	prose    bool               // names documentation or configuration
}

// literal is a piece of the question that is no plain word: a path, a version, a
// quoted phrase.
type literal struct {
	text  string
	group int16
}

func newQuestion(text string) *question {
	if len(text) > maxQuestion {
		text = strings.ToValidUTF8(text[:maxQuestion], "")
	}
	q := &question{text: text, stems: map[string][]ref{}, wholes: map[string][]ref{}, last: -1}
	for _, tok := range strings.Fields(text) {
		q.addToken(tok)
	}
	eachRuneWord(text, func(w string) { q.unicode = true; q.addStem(w, w, 1) })
	q.addPrefixes()
	q.addSynonyms()
	lowered := strings.ToLower(text)
	q.failure = asksFor(lowered, failureWords)
	q.warning = strings.Contains(lowered, "warn")
	q.tests = asksFor(" "+lowered, []string{" test", "tests", "_test"})
	q.lists = wantsAll.MatchString(lowered)
	q.prose = asksFor(lowered, []string{"documentation", "docs", "readme", "changelog", "change log"})
	return q
}

var failureWords = []string{"fail", "error", "crash", "panic", "wrong", "exception", "assert", "why", "not compile", "reject", "traceback",
	"complain", "conflict", "refused", " die", "abort", "problem", "broke", "missing", "could not", "can't", "tests pass", "succeed",
	"root cause", "stack trace", "unhandled", "outcome", "green", "did it pass", "test result", "test summary", "results of the test", "how many tests"}

// checkers are words for what builds and tests, and for its parts.
const checkers = `build job step stage phase task suite ci pipeline workflow deployment deploy make cmake gradle maven cargo rustc gcc clang tsc
	eslint webpack npm yarn pnpm pip docker pytest unittest jest mocha vitest`

// failureTalk are the stems of words that ask for a failure, not for some thing: words
// for failures, for what runs and fails, for what is printed of it, and for what a
// reader does with that.
var failureTalk = stemSet(checkers + ` fail failure error crash wrong exception broke broken die died abort warning warn unexpected abnormal
	assertion complain complaint went cause reason root raise raised made come encounter encountered lead led built
	command process program exit exited status ended stop stopped pass succeed success kill killed startup boot start
	message stack trace traceback log output print printed result report complete main final key serious else list check
	inspect identify detect diagnose debug analyze analyse analysis extract please outcome green verify summary status
	unhandled uncaught run app application server service script container image worker package unit down missing`)

func stemSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[stemOf(w)] = true
	}
	return out
}

// wantsAll is the words of who asks for all there are.
var wantsAll = regexp.MustCompile(`\b(which|who|lists?|all|every|each|names|how many)\b`)

func asksFor(lowered string, words []string) bool {
	for _, w := range words {
		if strings.Contains(lowered, w) {
			return true
		}
	}
	return false
}

// addToken reads one white-space separated piece of the question.
func (q *question) addToken(tok string) {
	quoted := strings.ContainsAny(tok, "`\"'") && strings.ContainsAny(tok[:1], "`\"'([")
	tok = strings.Trim(tok, "`\"'.,;:?!()[]{}<>…")
	if tok == "" {
		return
	}
	if strings.ContainsAny(tok, "/.:-") && !plainHyphen(tok) && len(tok) > 3 {
		q.literals = append(q.literals, literal{tok, q.newGroup(tok, 1.5)})
	}
	for _, id := range identifiers(tok) {
		q.addIdentifier(id, quoted)
	}
}

// plainHyphen says whether tok is a hyphenated word rather than a name.
func plainHyphen(tok string) bool {
	return !strings.ContainsAny(tok, "/.:0123456789") && strings.Count(tok, "-") < 2 && strings.ToLower(tok) == tok
}

func identifiers(tok string) []string {
	return strings.FieldsFunc(tok, func(r rune) bool { return r > 127 || !wordClass(class[r]) })
}

// addIdentifier adds an identifier's parts, and the identifier as a whole when it
// is shaped like one.
func (q *question) addIdentifier(id string, quoted bool) {
	shaped := quoted || strings.Contains(id, "_") || mixedCase(id)
	var parts []string
	eachPart(id, func(p string) { parts = append(parts, p) })
	boost := 1.0
	if shaped {
		boost = 1.3
	}
	for _, p := range parts {
		q.addWord(strings.ToLower(p), boost)
	}
	if whole := joined(id); shaped && len(whole) > 2 {
		g := q.newGroup(id, 1.3)
		q.groups[g].bits = 1 + bitsOf(id) // a name counts, whatever it says elsewhere
		q.wholes[whole] = append(q.wholes[whole], ref{g, 1})
		q.filter.add(whole)
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

func (q *question) addWord(w string, boost float64) {
	if len(w) < 2 {
		return
	}
	weight, known := wordWeight[w]
	if !known {
		weight = 1
	}
	if weight == 0 {
		return
	}
	q.addStem(stemOf(w), w, weight*boost)
}

// addStem adds a stem under the name of the word it came from.
func (q *question) addStem(s, name string, weight float64) {
	for _, r := range q.stems[s] {
		g := &q.groups[r.group]
		g.weight = max(g.weight, weight)
		q.follow(r.group)
		return
	}
	g := q.newGroup(name, weight)
	q.stems[s] = append(q.stems[s], ref{g, 1})
	q.filter.add(s)
	q.follow(g)
}

// maxFollowers bounds the phrases that begin with one word: a question may say it
// hundreds of times.
const maxFollowers = 8

// follow remembers that a group's word comes next in the question.
func (q *question) follow(g int16) {
	if q.last >= 0 && q.last != g && len(q.next[q.last]) < maxFollowers {
		q.next[q.last] = append(q.next[q.last], g)
	}
	q.last = g
}

func (q *question) newGroup(name string, weight float64) int16 {
	bits := 1 + bitsOf(name)
	if questionTalk[stemOf(name)] {
		bits = 0
	}
	q.groups = append(q.groups, group{name, weight, bits})
	q.next = append(q.next, nil)
	return int16(len(q.groups) - 1)
}

// stemRef is a stem and what it stands for.
type stemRef struct {
	stem string
	ref  ref
}

// minPrefix is the shortest stem that may stand for a longer word that begins with it.
const minPrefix = 4

// addPrefixes lets a word stand for longer ones that begin with it (heap for
// heappop), and for its abbreviations (param for parameter).
func (q *question) addPrefixes() {
	q.begins = map[uint][]stemRef{}
	for s, refs := range q.stems {
		if len(s) >= minPrefix {
			k := filterKey(s)
			q.begins[k] = append(q.begins[k], stemRef{s, ref{refs[0].group, float32(tune.prefix)}})
		}
	}
	for _, list := range q.begins {
		slices.SortFunc(list, func(a, b stemRef) int { return strings.Compare(a.stem, b.stem) })
	}
}

// like finds what a stem of the text, unknown itself, begins with or abbreviates.
func (q *question) like(stem []byte) (ref, bool) {
	if len(stem) < minPrefix {
		return ref{}, false
	}
	for _, s := range q.begins[filterKey(string(stem))] {
		if strings.HasPrefix(s.stem, string(stem)) || strings.HasPrefix(string(stem), s.stem) {
			return s.ref, true
		}
	}
	return ref{}, false
}

// addSynonyms lets other words stand for the question's, at a discount. Stems are
// visited in order so that the result does not depend on a map's.
func (q *question) addSynonyms() {
	own := make([]string, 0, len(q.stems))
	for s := range q.stems {
		own = append(own, s)
	}
	sort.Strings(own)
	for _, s := range own {
		r := q.stems[s][0]
		for _, syn := range synonyms[s] {
			q.stems[syn] = append(q.stems[syn], ref{r.group, float32(tune.synonym)})
			q.filter.add(syn)
		}
	}
}

// wordWeight lowers what questions say whatever they ask about. 0 drops a word.
var wordWeight = weightTable(map[float64]string{
	0: `a an the is are was were be been being am do does did done doing of in on at to from for with without by as and or not no nor
		it its this that these those there here which what where when who whom whose why how would should could can may might must
		will shall i we you he she they them my our your their me us his her if then than so too very also just only
		about into onto over under between during before after out up off own same such both each any some all most more other
		one get got gets getting explain has have had having go goes going get need needs want wants like used uses used using use via per vs etc
		don doesn didn isn aren wasn weren won wouldn couldn shouldn haven hasn hadn ll ve lets please thanks thank hello
		wondering trying exactly basically really simply regarding concerning whether myself yourself itself`,
	0.3: `code file part function method class line lines find show relevant change changes changed concerned implemented
		implementation implement implements handle handles handled handling add adds added adding fix fixes fixed make makes
		made making update updates updated allow allows allowed support supports supported improve set sets new given
		thing something way place section text documentation instructions say says document work works working bug issue
		return returns returned value values test tests run runs called call calls instead case cases happens
		first last two correct correctly ensure provide name names`,
})

// questionTalk are words that questions have whatever they ask about. A text is
// searched for them, but to have them says nothing about it, and to lack them neither.
var questionTalk = stemSet(`describe tell understand understanding know knowing wonder interested curious look looks looking matter
	matters figure investigate investigating try tries see sees give gives take takes taken happen happening occur occurs
	determine determines determined decide decides involved involves actually currently specifically particular particularly
	according following related relevant surrounding corresponding several because while still let anything everything nothing
	someone somebody much many actual exact specific whole entire full important logic snippet snippets portion portions piece
	pieces definition definitions defined define defines declared declaration located locate location locations responsible
	behaviour behavior behave behaves mechanism approach detail details overview summary summarize purpose include includes
	including inside codebase context bug bugs helper helpers problem issue issues against across among around behind beside
	besides beyond despite toward towards throughout through upon within whenever wherever ever never always sometimes often
	again already though although however therefore thus rather quite either neither unless until ran
	mean meaning means example examples usage caveat caveats step steps refactor deeply quickly briefly`)

func weightTable(lists map[float64]string) map[string]float64 {
	out := map[string]float64{}
	for weight, words := range lists {
		for _, w := range strings.Fields(words) {
			out[w] = max(out[w], weight) // whatever the order of the lists
		}
	}
	return out
}
