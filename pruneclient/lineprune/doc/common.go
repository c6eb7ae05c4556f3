package doc

import (
	"strings"
	"sync"
)

// common maps a stem to the information in its occurrence, in bits: log2(files / files with it), counted
// over source files. Stems that are not listed have RareBits.
var common = sync.OnceValue(func() map[string]float64 {
	out := make(map[string]float64, 2000) // about as many as there are: it does not grow while a hook waits
	for _, line := range List("common") {
		bits, words := ListNumber(line)
		for w := range strings.FieldsSeq(words) {
			out[StemOf(w)] = bits
		}
	}
	return out
})

// BitsOf returns the information, in bits, in the fact that a text contains a word.
func BitsOf(word string) float64 {
	if bits, ok := common()[StemOf(word)]; ok {
		return bits
	}
	return RareBits
}
