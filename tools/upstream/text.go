package upstream

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// runesPerWord converts a limit in words to characters, for scripts without spaces.
const runesPerWord = 7

var (
	markup   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[*_`#>]{2,}|`|^[-*>#]+ |\\[([^\\]]*)\\]\\([^)]*\\)") })
	sentence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?]["')]?\s+|[。！？]|\n\s*\n`) })
	openings = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(this (tool|function|method|endpoint|action) (is used to|can be used to|lets you|allows you to|will|can)?|` +
			`use this (tool )?(to|when|for)|allows you to|tool (to|for|that)|a tool (to|for|that)|please|used to|provides|optional[:.,]?|required[:.,]?)\s+`)
	})
)

// maxText is the number of bytes of a description that are read: more than anybody writes for a model.
const maxText = 64 << 10

// beginning returns a text, or a copy of its first maxText bytes.
func beginning(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// Shorten keeps at most words words of a description: the first sentence, and more
// sentences while there is room, without markup and opening phrases. It keeps function
// words, because tool searches that rank by word counts use them.
func Shorten(text string, words int) string {
	if words <= 0 {
		return ""
	}
	text = strings.TrimSpace(markup().ReplaceAllString(beginning(text), "$1"))
	var kept []string
	for _, part := range sentence().Split(text, -1) {
		part = openings().ReplaceAllString(strings.Join(strings.Fields(part), " "), "")
		fields := strings.Fields(part)
		room := words - len(kept)
		if len(fields) == 0 {
			continue
		}
		if len(kept) > 0 && len(fields) > room {
			break
		}
		if len(kept) > 0 {
			kept[len(kept)-1] = strings.TrimRight(kept[len(kept)-1], ".,;:") + "."
		}
		kept = append(kept, fields[:min(room, len(fields))]...)
		if len(kept) >= words {
			break
		}
	}
	return cutRunes(strings.TrimRight(strings.Join(kept, " "), ".,;:( "), words*runesPerWord)
}

// openingOf splits a text after its first sentence.
func openingOf(text string) (opening, rest string) {
	text = strings.TrimSpace(text)
	end := sentence().FindStringIndex(text)
	if end == nil {
		return text, ""
	}
	return strings.TrimSpace(text[:end[1]]), strings.TrimSpace(text[end[1]:])
}

// clip cuts a description to at most words words and changes nothing else.
func clip(text string, words int) string {
	text = strings.TrimSpace(text)
	if len(strings.Fields(text)) <= words {
		return text
	}
	return Shorten(text, words)
}

// cutRunes cuts a text that is longer than limit characters, at a word boundary.
func cutRunes(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)[:limit]
	cut := string(runes)
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, ".,;:( ")
}
