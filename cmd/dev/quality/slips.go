package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// slips are changes to the longest word of a question: typing errors, then inflections. Each function gets a word of
// five or more lower-case letters and returns "" if the word has no such form.
var slips = []struct {
	name  string
	write func(word string) string
}{
	{"a letter missing", func(w string) string { return w[:len(w)/2] + w[len(w)/2+1:] }},
	{"a letter twice", func(w string) string { return w[:len(w)/2] + w[len(w)/2-1:] }},
	{"another letter", func(w string) string { return w[:len(w)/2] + otherLetter(w[len(w)/2]) + w[len(w)/2+1:] }},
	{"two letters swapped", func(w string) string {
		h := len(w) / 2
		return w[:h-1] + w[h:h+1] + w[h-1:h] + w[h+1:]
	}},
	{"plural or singular", pluralOrSingular},
	{"-ing", func(w string) string { return inflected(w, "ing") }},
	{"-ed", func(w string) string { return inflected(w, "ed") }},
}

// inflected adds an ending to a word that may be a verb in its base form. It returns "" for a word with another ending.
func inflected(w, ending string) string {
	for _, other := range []string{"s", "ing", "ed", "ion", "ment", "er", "or", "y", "al", "ic", "ive", "ant", "ent", "able", "than", "when"} {
		if strings.HasSuffix(w, other) {
			return ""
		}
	}
	return strings.TrimSuffix(w, "e") + ending
}

// otherLetter returns the letter to the right of c on the keyboard, or the first one of the next row.
func otherLetter(c byte) string {
	const rows = "qwertyuiopasdfghjklzxcvbnmq"
	return rows[strings.IndexByte(rows, c)+1 : strings.IndexByte(rows, c)+2]
}

func pluralOrSingular(w string) string {
	if rest, plural := strings.CutSuffix(w, "s"); plural && !strings.HasSuffix(rest, "s") {
		return rest
	}
	return w + "s"
}

// longWord matches a word of five or more lower-case letters, with the punctuation around it. Identifiers and paths do
// not match.
var longWord = regexp.MustCompile(`^["'(]*([a-z]{5,})["')?.,;:]*$`)

// slipped returns a question whose longest word is changed by write. ok is false if no word can be changed.
func slipped(question string, write func(string) string) (other string, ok bool) {
	longest := ""
	words := strings.Split(question, " ")
	for _, w := range words {
		if m := longWord.FindStringSubmatch(w); m != nil && len(m[1]) > len(longest) && write(m[1]) != "" {
			longest = m[1]
		}
	}
	if longest == "" {
		return question, false
	}
	for i, w := range words {
		if m := longWord.FindStringSubmatch(w); m != nil && m[1] == longest {
			words[i] = strings.Replace(w, longest, write(longest), 1)
		}
	}
	return strings.Join(words, " "), true
}

// reportSlips compares the figures of the questions with those of the same questions after each of the slips.
func reportSlips(w io.Writer, cases []benchCase) {
	fmt.Fprint(w, `## The same questions with a typing error, or with a word in another form

The longest word of the question that can be is written otherwise; names stay. Default gates; the figures before the arrow are of
the same questions as they were asked.

| the longest word | cases | answers' lines kept | tokens kept | came back whole |
|---|---|---|---|---|
`)
	for _, slip := range slips {
		var before, after []benchCase
		for _, c := range cases {
			if question, ok := slipped(c.Question, slip.write); ok {
				before = append(before, c)
				c.Question = question
				after = append(after, c)
			}
		}
		ask := func(cases []benchCase) table {
			return evaluate(cases, func(i int) []int { return cases[i].kept(cases[i].Question, lineprune.Options{}) })
		}
		a, b := ask(before), ask(after)
		fmt.Fprintf(w, "| %s | %d |", slip.name, len(after))
		for _, figure := range []func(score) float64{recallOf, shareOf, wholeOf} {
			writeChange(w, after, all, a, b, figure)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func shareOf(s score) float64 { return s.share }

// writeChange writes a table cell with the older mean, the newer one and their difference, in per cent.
func writeChange(w io.Writer, cases []benchCase, task string, older, newer table, of func(score) float64) {
	a, b := older.interval(cases, task, of).mean, newer.interval(cases, task, of).mean
	fmt.Fprintf(w, " %.1f → %.1f (%+.1f) |", 100*a, 100*b, 100*(b-a))
}
