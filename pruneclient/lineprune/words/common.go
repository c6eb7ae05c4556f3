package words

import (
	"strings"

	"mcp-pruner/pruneclient/lineprune/tuning"
)

// Common maps a stem to how much it says that a source file has it, in bits:
// log2(files/files with it). Stems that are not in it have rareBits.
var Common = parseCommon(tuning.File("common"))

func parseCommon(lines []string) map[string]float64 {
	out := map[string]float64{}
	for _, line := range lines {
		bits, words := tuning.Number(line)
		for _, w := range strings.Fields(words) {
			out[StemOf(w)] = bits
		}
	}
	return out
}

// BitsOf is how much it says that a text has a word.
func BitsOf(word string) float64 {
	if bits, ok := Common[StemOf(word)]; ok {
		return bits
	}
	return tuning.RareBits
}
