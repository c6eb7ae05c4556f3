package lineprune

import (
	_ "embed"
	"strconv"
	"strings"
)

// rareBits is the information in a word that fewer than one source file in 45 has.
const rareBits = 6

//go:embed common.txt
var commonTable string

// common maps a stem to how much it says that a source file has it, in bits:
// log2(files/files with it). Stems that are not in it have rareBits.
var common = parseCommon(commonTable)

func parseCommon(table string) map[string]float64 {
	out := map[string]float64{}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		words := strings.Fields(line)
		bits, err := strconv.Atoi(words[0])
		if err != nil {
			panic(err) // the table is part of the program
		}
		for _, w := range words[1:] {
			out[stemOf(w)] = float64(bits)
		}
	}
	return out
}

// bitsOf is how much it says that a text has a word.
func bitsOf(word string) float64 {
	if bits, ok := common[stemOf(word)]; ok {
		return bits
	}
	return rareBits
}
