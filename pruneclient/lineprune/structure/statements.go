package structure

import (
	"math/bits"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Template returns a hash of a line with numbers and alignment masked. Lines that a program printed with
// the same statement have the same hash.
func Template(line string) uint64 {
	line = line[:min(len(line), doc.TemplatePrefix)]
	h := uint64(0)
	for i := 0; i < len(line); {
		word, seen := uint64(0), byte(0)
		for ; i < len(line) && doc.ByteBit[line[i]] != 0; i++ {
			seen |= doc.ByteBit[line[i]]
			word = bits.RotateLeft64(word, 7) ^ uint64(line[i])
		}
		if seen&(1<<doc.Digit) != 0 {
			word = '0'
		}
		h = mix(h, word)
		gap := uint64(0)
		for ; i < len(line) && doc.ByteBit[line[i]] == 0; i++ {
			if line[i] != ' ' {
				gap = bits.RotateLeft64(gap, 7) ^ uint64(line[i])
			}
		}
		h = mix(h, gap)
	}
	return h
}

// mix combines a hash h with x, in the manner of FNV.
func mix(h, x uint64) uint64 {
	const prime = 1099511628211
	h = (h ^ x) * prime
	return h ^ h>>32
}

// CountTemplates returns the number of every line's template and the count of lines per template.
func CountTemplates(d *doc.Document) (of, counts []int32) { return count(d, Template) }

// count numbers the hashes of the lines in the order of their first occurrence. It returns the number of
// every line's hash and the count of lines per number. The table is open-addressed, because a Go map would
// cost more than the hashing, and grows with the number of distinct hashes, which in a log are few.
func count(d *doc.Document, hash func(line string) uint64) (of, counts []int32) {
	table := make([]hashed, 1<<9)
	of = make([]int32, len(d.Lines))
	for i, line := range d.Lines {
		h := hash(line)
		at := free(table, h)
		if table[at].number == 0 {
			counts = append(counts, 0)
			table[at] = hashed{h, int32(len(counts))}
		}
		of[i] = table[at].number - 1
		counts[of[i]]++
		if 2*len(counts) > len(table) {
			table = doubled(table)
		}
	}
	return of, counts
}

// hashed is a hash and its number, counted from 1; 0 marks a free place of the table.
type hashed struct {
	hash   uint64
	number int32
}

// free returns the place of a hash, which is free if the table does not have the hash. The length of the
// table is a power of two.
func free(table []hashed, hash uint64) int {
	at := int(hash>>1) & (len(table) - 1)
	for table[at].number != 0 && table[at].hash != hash {
		at = (at + 1) & (len(table) - 1)
	}
	return at
}

func doubled(table []hashed) []hashed {
	out := make([]hashed, 2*len(table))
	for _, h := range table {
		if h.number != 0 {
			out[free(out, h.hash)] = h
		}
	}
	return out
}

// Statements returns a number per line that is equal for lines printed by the same statement. If despite is
// set, such lines may differ in names.
func Statements(d *doc.Document, despite bool) []uint64 {
	var common wordCounts
	for _, line := range d.Lines {
		eachLogWord(line, func(word uint64, _ bool) { common[word%uint64(len(common))]++ })
	}
	least := int32(max(len(d.Lines)/doc.NameShare, 2))
	frame := func(line string) uint64 {
		if FromCompiler(line) { // compiler messages are distinct: each needs a fix of its own
			return Template(line)
		}
		h, said, names := uint64(1), 0, 0
		eachLogWord(line, func(word uint64, number bool) {
			rare := word != anyNumber && common[word%uint64(len(common))] < least
			switch {
			case rare && number:
				word = anyNumber
			case rare && despite:
				word = anyName
				names++
			case !number:
				said++
			}
			h = mix(h, word)
		})
		if said < 3 || names > said {
			return Template(line)
		}
		return h
	}
	numbers, counts := count(d, frame)
	of := make([]uint64, len(d.Lines))
	for i, s := range numbers {
		if counts[s] >= doc.FloodLines {
			of[i] = uint64(s)
		} else {
			of[i] = Template(d.Lines[i])
		}
	}
	return of
}

// wordCounts counts words by their hash. Colliding words look more common than they are, which can only
// cause more lines to be kept.
type wordCounts [1 << 14]int32

// Placeholders for numbers and names that vary from line to line.
const (
	anyNumber = '0'
	anyName   = 'a'
)

// eachLogWord yields the hashes of a line's words. A number yields anyNumber, unless it has at most three
// digits and is no part of a time.
func eachLogWord(line string, word func(hash uint64, number bool)) {
	line = line[:min(len(line), doc.TemplatePrefix)]
	for i := 0; i < len(line); i++ {
		h, seen, start := uint64(0), byte(0), i
		for ; i < len(line) && doc.ByteBit[line[i]] != 0; i++ {
			seen |= doc.ByteBit[line[i]]
			h = bits.RotateLeft64(h, 7) ^ uint64(line[i])
		}
		digits := seen == 1<<doc.Digit
		switch {
		case seen == 0:
		case digits && i-start <= 3 && !inTime(line, start, i), seen&(1<<doc.Digit) == 0:
			word(mix(mix(h, 0), 0), digits) // mixed twice, since after one step the low bits depend only on the last letters
		default:
			word(anyNumber, true)
		}
	}
}

// inTime reports whether a number has a colon or a dot beside it.
func inTime(line string, start, end int) bool {
	return start > 0 && (line[start-1] == ':' || line[start-1] == '.') || end < len(line) && (line[end] == ':' || line[end] == '.')
}
