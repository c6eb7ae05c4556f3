package learned

import "math/bits"

// Byte classes of the scanner. Letters, digits and the underscore make words.
const (
	other byte = iota
	space
	lower
	upper
	digit
	underscore
)

var class = func() (t [256]byte) {
	for c := range t {
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			t[c] = space
		case c >= 'a' && c <= 'z' || c >= 0x80:
			t[c] = lower
		case c >= 'A' && c <= 'Z':
			t[c] = upper
		case c >= '0' && c <= '9':
			t[c] = digit
		case c == '_':
			t[c] = underscore
		}
	}
	return t
}()

// term is a hash of a word in lower case. Compound identifiers (parse_url, HTTPServer,
// utf8) are terms as a whole, and so are their parts.
type term uint32

// The bounds of words: shorter ones say nothing, longer ones are data.
const (
	shortestWord = 3
	longestWord  = 64
)

// eachTerm yields the terms of s. compound is true of an identifier made of several
// parts. Terms may repeat.
func eachTerm(s string, yield func(t term, compound bool)) {
	for i := 0; i < len(s); {
		if class[s[i]] < lower {
			i++
			continue
		}
		end := i + 1
		for end < len(s) && class[s[end]] >= lower {
			end++
		}
		if end-i <= longestWord {
			identifier(s[i:end], yield)
		}
		i = end
	}
}

// identifier yields a word's parts, and the word itself if there are several.
func identifier(word string, yield func(term, bool)) {
	parts, start := 0, 0
	for k := 1; k <= len(word); k++ {
		if k < len(word) && !boundary(word, k) {
			continue
		}
		part := word[start:k]
		for len(part) > 0 && part[0] == '_' {
			part = part[1:]
		}
		if part != "" {
			parts++
		}
		if len(part) >= shortestWord && class[part[0]] != digit {
			yield(hashOf(singular(part)), false)
		}
		start = k
	}
	if parts > 1 && len(word) >= shortestWord && class[word[0]] != digit {
		yield(hashOf(word)^1<<31, true)
	}
}

// boundary is true where a new part of an identifier begins at k.
func boundary(word string, k int) bool {
	a, b := class[word[k-1]], class[word[k]]
	switch {
	case a == underscore || b == underscore:
		return a != underscore
	case a == upper && b == upper: // the S of HTTPServer opens a part
		return k+1 < len(word) && class[word[k+1]] == lower
	case a == upper && b == lower:
		return false
	}
	return a != b
}

// singular takes the plural's s off.
func singular(w string) string {
	if n := len(w); n > 3 && w[n-1] == 's' && w[n-2] != 's' {
		return w[:n-1]
	}
	return w
}

// hashOf is FNV-1a of a word without underscores in lower case.
func hashOf(w string) term {
	h := uint32(2166136261)
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch class[c] {
		case underscore:
			continue
		case upper:
			c |= 0x20
		}
		h = (h ^ uint32(c)) * 16777619
	}
	return term(h &^ (1 << 31))
}

// stopWords say nothing about what is looked for.
var stopWords = func() map[term]bool {
	const words = `the and for with this that from are was were have has had not but all any can will would should could let now
		use used using see look looking check read file files code line lines find show need want into than then there here which what
		where when how why who its it's they them their our your you also just only more most some such each make sure about first next
		because since like does did done get got out over under same other run running try test tests does doesn don isn wasn
		actually seems however but thought might may must been being these those after before still already instead good right found
		return self def func import class true false none nil null int string err error if else`
	set := map[term]bool{}
	eachTerm(words, func(t term, _ bool) { set[t] = true })
	return set
}()

// log16 is 16 times the base-2 logarithm of n (at least 1), straight between powers of
// two.
func log16(n int) int32 {
	if n <= 1 {
		return 0
	}
	e := bits.Len(uint(n)) - 1
	return int32(e*16 + ((n-(1<<e))*16)>>e)
}
