package upstream

import (
	"strings"
	"unicode"
)

// verbs are the words that say what a tool does to its noun. Names are split at them:
// list_pull_requests becomes the action list of pull_request.
var verbs = WordSet(`accept activate add analyze apply approve archive assign authorize bootstrap browse build calculate call
	cancel change check clear click clone close compare complete compute configure connect convert copy count create
	deactivate debug delete deploy describe detect disable disconnect download draw drop duplicate edit emulate enable end
	estimate evaluate execute explore export extract fetch fill filter find fork format generate geocode get handle hover
	import init insert inspect install invite join launch link list load lock log lookup make manage mark merge migrate
	modify monitor move navigate open parse patch pause ping plan play post press preview print process publish pull push
	put query rank read rebase receive recommend record refresh register reject release reload remove rename render reopen
	replace reply report request reset resize resolve restart restore resume retrieve review revoke rotate run save scan
	schedule scrape screenshot search select send set share show shuffle split start stat stop stream submit subscribe
	suggest summarize swap switch sync tag test toggle track transfer translate trigger type uninstall unlink unlock
	unsubscribe update upgrade upload upsert use validate verify view wait watch whois write`)

// agentVerbs are last words that name the doer of an action: article_searcher becomes the
// action search of article.
var agentVerbs = map[string]string{
	"searcher": "search", "getter": "get", "reader": "read", "writer": "write", "converter": "convert", "splitter": "split",
	"merger": "merge", "formatter": "format", "cleaner": "clean", "predictor": "predict", "fetcher": "fetch", "finder": "find",
	"creator": "create", "generator": "generate", "viewer": "view", "editor": "edit", "lister": "list", "loader": "load",
	"checker": "check", "parser": "parse", "extractor": "extract", "analyzer": "analyze", "validator": "validate",
}

// readVerbs are the first words of names of tools that only read. They group tools for
// --split-rw, but never make a client treat a tool as read-only.
var readVerbs = WordSet(`analyze browse calculate check compare count describe explore fetch find get inspect list lookup ping preview query
	rank read recommend retrieve scan search show stat suggest summarize view whois`)

// changingVerbs are verbs of tools that change something which are not among verbs, because other names use them as nouns.
var changingVerbs = WordSet(`abort alter append ban buy destroy discard drain drop empty erase evict flush grant kill mutate overwrite
	pay prepend purge reboot rewrite sell shutdown terminate truncate wipe`)

// nounsToo are verbs that are nouns as well: the report of get_report is one.
var nounsToo = WordSet(`build call change copy display export filter fork format import link load log manage mark monitor plan play post press
	process publish pull query record register release report request review run scan schedule screenshot search share split start stat
	stream tag test track trigger type use view`)

// articles say nothing about what a tool works on.
var articles = WordSet("a an the all any each every this that my your our its some")

// modifierWords say which of several things a tool works on, not what they are.
var modifierWords = WordSet(`active available basic best bulk current daily existing full historical last latest live many me more multiple
	new next old other own previous public random raw real recent self simple single specific top trending upcoming user's various`)

// isArticle reports whether a word of a name can be left out.
func isArticle(word string) bool { return articles[word] }

// joinsWords reports whether a word joins two verbs.
func joinsWords(word string) bool { return word == "and" || word == "or" || word == "then" }

// isNoun reports whether a word can name what a tool works on.
func isNoun(word string) bool {
	if modifierWords[word] || articles[word] || joinsWords(word) || verbs[word] && !nounsToo[word] {
		return false
	}
	return strings.ContainsFunc(word, unicode.IsLetter) && (len(word) > 1)
}

// WordSet returns the words of a text.
func WordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// IsVerb reports whether a word says what a tool does.
func IsVerb(word string) bool { return verbs[word] }

// onlyReads reports whether all verbs of a name are verbs of tools that only read: list_pull_requests, but not get_and_close
// or query_drop_table.
func onlyReads(name string) bool {
	words := splitName(name)
	if len(words) == 0 {
		return false
	}
	last := len(words) - 1
	if verb := agentVerbs[words[last]]; verb != "" && last > 0 && !verbs[words[0]] {
		words = append([]string{verb}, words[:last]...)
	}
	for i, w := range words {
		must := i == 0 || joinsWords(words[i-1]) // a verb stands here, known or not
		changes := (verbs[w] && !nounsToo[w] || changingVerbs[w] || agentVerbs[w] != "" && !readVerbs[agentVerbs[w]]) && !readVerbs[w]
		if changes && !(w == "merge" && i < last && strings.HasPrefix(words[i+1], "request")) || must && !readVerbs[w] {
			return false
		}
	}
	return true
}

// agentVerb returns the verb of a word that names the doer of an action, or "".
func agentVerb(word string) string { return agentVerbs[word] }

// splitName splits a tool's name into lower-case words at separators and changes of case,
// as in getStoryWithComments, get-story and HTTPGet.
func splitName(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		startsWord := unicode.IsUpper(r) && i > 0 &&
			(unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if startsWord {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return words
}

// singularOf guesses the singularOf of an English noun: entities, boxes, servers.
func singularOf(word string) string {
	switch {
	case len(word) < 4 || strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "us") || strings.HasSuffix(word, "is"):
		return word
	case strings.HasSuffix(word, "ies"):
		return word[:len(word)-3] + "y"
	case strings.HasSuffix(word, "ches"), strings.HasSuffix(word, "shes"), strings.HasSuffix(word, "xes"), strings.HasSuffix(word, "sses"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "s"):
		return word[:len(word)-1]
	}
	return word
}

// EditDistance returns the Levenshtein distance of two short words.
func EditDistance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
