package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"mcp-pruner/pruneclient/lineprune"
)

// slips are ways of writing the longest word of a question otherwise: typing errors, then inflections. Each
// gets a word of five or more lower-case letters.
var slips = []struct {
	name  string
	write func(word string) string
}{
	{"as asked", func(w string) string { return w }},
	{"a letter missing", func(w string) string { return w[:len(w)/2] + w[len(w)/2+1:] }},
	{"a letter twice", func(w string) string { return w[:len(w)/2] + w[len(w)/2-1:] }},
	{"another letter", func(w string) string { return w[:len(w)/2] + otherLetter(w[len(w)/2]) + w[len(w)/2+1:] }},
	{"two letters swapped", func(w string) string {
		h := len(w) / 2
		return w[:h-1] + w[h:h+1] + w[h-1:h] + w[h+1:]
	}},
	{"plural or singular", pluralOrSingular},
	{"-ing", func(w string) string { return strings.TrimSuffix(w, "e") + "ing" }},
	{"-ed", func(w string) string { return strings.TrimSuffix(w, "e") + "ed" }},
}

// otherLetter returns a letter beside c on the keyboard.
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

// longWord matches a word that is no part of a name or path.
var longWord = regexp.MustCompile(`^["'(]*([a-z]{5,})["')?.,;:]*$`)

// slipped returns a question with its longest word written otherwise. ok is false if all words are short or
// names.
func slipped(question string, write func(string) string) (other string, ok bool) {
	longest := ""
	words := strings.Split(question, " ")
	for _, w := range words {
		if m := longWord.FindStringSubmatch(w); m != nil && len(m[1]) > len(longest) {
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

// reportSlips asks every question with one word written otherwise.
func reportSlips(w io.Writer, cases []benchCase) {
	var asked []benchCase
	for _, c := range cases {
		if _, ok := slipped(c.Question, pluralOrSingular); ok {
			asked = append(asked, c)
		}
	}
	fmt.Fprintf(w, `## The same questions with a typing error, or with a word in another form

The longest word of the question is written otherwise, in the %d cases whose question has a word of five letters that is not a
name. Default gates.

| the longest word | answers' lines kept | tokens kept | came back whole |
|---|---|---|---|
`, len(asked))
	for _, slip := range slips {
		t := evaluate(asked, func(i int) []int {
			question, _ := slipped(asked[i].Question, slip.write)
			return asked[i].kept(question, lineprune.Options{})
		})
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", slip.name, t.estimate(asked, all, recallOf), t.estimate(asked, all, shareOf), t.estimate(asked, all, wholeOf))
	}
	fmt.Fprintln(w)
}

func shareOf(s score) float64 { return s.share }
