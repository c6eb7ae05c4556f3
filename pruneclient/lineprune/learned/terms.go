package learned

import "math/bits"

// Byte classes of the scanner. A word consists of letters, digits and underscores.
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

// term is a hash of a word in lower case. A compound identifier (parse_url, HTTPServer, utf8) yields a term
// for the whole and one for each part.
type term uint32

// The lengths of words that become terms. Shorter words carry no information, longer ones are data.
const (
	shortestWord = 3
	longestWord  = 64
)

// eachTerm yields the terms of s. compound marks an identifier of several parts. Terms may repeat.
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

// identifier yields a word's parts, and the whole word if it has several.
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

// boundary reports whether a new part of an identifier begins at k.
func boundary(word string, k int) bool {
	a, b := class[word[k-1]], class[word[k]]
	switch {
	case a == underscore || b == underscore:
		return a != underscore
	case a == upper && b == upper: // the S of HTTPServer starts a part
		return k+1 < len(word) && class[word[k+1]] == lower
	case a == upper && b == lower:
		return false
	}
	return a != b
}

func singular(w string) string {
	if n := len(w); n > 3 && w[n-1] == 's' && w[n-2] != 's' {
		return w[:n-1]
	}
	return w
}

// hashOf returns the FNV-1a hash of a word in lower case, underscores omitted.
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

// stopWords are words that carry no information about the subject.
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

// log16 returns 16 times the base-2 logarithm of n (n >= 1), interpolated linearly between powers of two.
func log16(n int) int32 {
	if n <= 1 {
		return 0
	}
	e := bits.Len(uint(n)) - 1
	return int32(e*16 + ((n-(1<<e))*16)>>e)
}
