package rank

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// AsksForAll reports whether all records of a call's output are wanted: its description, or the sentence before it, asks for
// all of them, or a sentence of the user's that names what the call looks for. The question counts where it is all that is known.
func AsksForAll(call session.Origin, question string) bool {
	spoken := question
	if !call.Asked && (call.Said != "" || call.Prompt != "") {
		spoken = call.About() + "\n" + call.Said
	}
	if slices.ContainsFunc(session.Sentences(spoken), wantsAll) {
		return true
	}
	if call.Asked || call.Prompt == "" {
		return false
	}
	subjects, least := subjectsOf(call)
	return slices.ContainsFunc(session.Sentences(call.Prompt), func(sentence string) bool {
		return wantsAll(sentence) && naming(sentence, subjects) >= least
	})
}

// AsksForReview reports whether a diff is read for what is in it, rather than to see what there is: the words before the call
// say so, or ask for all of it, or a sentence of the user's that speaks of a diff or a review does.
func AsksForReview(call session.Origin, question string) bool {
	spoken := call.About() + "\n" + call.Said
	if strings.TrimSpace(spoken) != "" || call.Prompt == "" { // else the question is the user's message
		spoken += "\n" + question
	}
	if AsksForAll(call, question) || reviews(spoken, "") {
		return true
	}
	return reviews(call.Prompt, " review") || reviews(call.Prompt, " diff ")
}

// reviews reports whether a sentence with a certain word asks for a review.
func reviews(text, word string) bool {
	return slices.ContainsFunc(session.Sentences(text), func(sentence string) bool {
		sentence = normal(sentence)
		return strings.Contains(sentence, word) && hasPhrase(sentence, reviewPhrases())
	})
}

var (
	reviewPhrases = sync.OnceValue(func() []string { return doc.ListParts("english", "asks-for-review") })
	wantPhrases   = sync.OnceValue(func() []string { return doc.ListParts("english", "asks-for-all") })
	noneReplacer  = sync.OnceValue(func() *strings.Replacer {
		var pairs []string
		for _, phrase := range doc.ListParts("english", "asks-for-none") {
			pairs = append(pairs, phrase, " ")
		}
		return strings.NewReplacer(pairs...)
	})
)

func wantsAll(sentence string) bool {
	return hasPhrase(noneReplacer().Replace(" ^"+normal(strings.ReplaceAll(sentence, "’", "'"))), wantPhrases())
}

// subjectsOf returns the words that say what a call looks for, and how many of them a sentence has to have to name it: half of
// a search's pattern, or one of the words of any other command or call.
func subjectsOf(call session.Origin) (subjects map[string]bool, least int) {
	texts := []string{call.Sought()}
	search := texts[0] != "" || call.Command() != "" && session.Pipelines(call.Command()) == nil
	if texts[0] == "" {
		texts = append(texts, call.Tool)
		for _, v := range call.Args {
			if s, ok := v.(string); ok {
				texts = append(texts, s)
			}
		}
	}
	subjects = map[string]bool{}
	for _, text := range texts {
		for _, word := range subjectWords().FindAllString(text, -1) {
			if word = strings.ToLower(word); !shellWords()[word] {
				subjects[doc.StemOf(word)] = true
			}
		}
	}
	if search {
		return subjects, max((len(subjects)+1)/2, 1)
	}
	return subjects, 1
}

// subjectWords matches the words that may name something.
var subjectWords = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}][\p{L}\d_]{2,}`) })

// shellWords are words of commands that name nothing.
var shellWords = sync.OnceValue(func() map[string]bool { return doc.ListSet("english", "shell-words") })

// naming returns how many of some words a sentence has.
func naming(sentence string, subjects map[string]bool) int {
	found := map[string]bool{}
	for _, word := range subjectWords().FindAllString(sentence, -1) {
		if word = doc.StemOf(word); subjects[word] {
			found[word] = true
		}
	}
	return len(found)
}
