package upstream

import (
	"strings"
	"unicode"
)

// fillerWords are words that say nothing about what to pass or what happens, in texts of tools and parameters.
var fillerWords = WordSet(`a about all an and any are as at be been by can do does e for from g given has have here if in into is it its just may
	must need not of on one optional or other parameter please provide provided required set should so specify such than that the their
	them then there these this those to tool use used user using value want we when where whether which will with you your default string
	number integer boolean list array object name field input whole new more only`)

// NovelWords returns the number of different words of a text that a reader of the known words cannot guess: not among them in any form, and no
// filler. A number counts as one.
func NovelWords(text string, known map[string]bool) int {
	seen := map[string]bool{}
	for _, word := range splitName(text) {
		stem := wordRoot(word)
		if len(word) > 1 && !fillerWords[word] && !known[stem] {
			seen[stem] = true
		}
	}
	unspaced := 0 // scripts that are written without spaces
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			unspaced++
		}
	}
	return len(seen) + unspaced/4
}

// WordRoots returns the words of texts in the form in which Novel compares them.
func WordRoots(texts ...string) map[string]bool {
	known := map[string]bool{}
	for _, text := range texts {
		for _, word := range splitName(text) {
			known[wordRoot(word)] = true
		}
	}
	return known
}

// wordRoot removes the endings by which the forms of a word differ: navigate, navigates, navigation.
func wordRoot(word string) string {
	word = singularOf(word)
	for _, ending := range []string{"ation", "ion", "ing", "ed", "e"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) > 3 {
			return strings.TrimSuffix(rest, "at")
		}
	}
	if len(word) > 5 {
		return strings.TrimSuffix(word, "at")
	}
	return word
}

// brief keeps the words of a text that are no filler, as in a telegram, at most words of them.
func brief(text string, words int) string {
	var kept []string
	for _, word := range strings.Fields(text) {
		plain := strings.ToLower(strings.Trim(word, ".,;:()"))
		if !fillerWords[plain] || plain == "not" || plain == "or" || plain == "and" {
			kept = append(kept, word)
		}
	}
	return strings.TrimRight(strings.Join(kept[:min(len(kept), words)], " "), ".,;:( ")
}
