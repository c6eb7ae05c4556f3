package lineprune

import (
	"math/bits"
	"slices"
)

// thinned is the same without the score of what a log that is asked for a failure
// says again and again, but for the first few times and the last: a program that
// tried all night failed for one reason.
func (p *pruning) thinned() *pruning {
	if p.kind != Logs || !p.q.failure {
		return p
	}
	thin := *p
	thin.statements = p.d.statements(!p.q.lists && !p.q.tests) // "which tests failed?" asks for their names
	thin.relevance.score = slices.Clone(p.relevance.score)
	again := repeats(thin.statements)
	for u, unit := range p.outline.units {
		if p.says(u, again) {
			continue
		}
		for i := unit.start; i < unit.end; i++ {
			if again[i] {
				thin.relevance.score[i] = 0
			}
		}
	}
	return &thin
}

// repeats says of every line whether others of its statement are enough.
func repeats(statements []uint64) []bool {
	seen, left := map[uint64]int{}, map[uint64]int{}
	for _, s := range statements {
		left[s]++
	}
	again := make([]bool, len(statements))
	for i, s := range statements {
		seen[s]++
		left[s]--
		again[i] = seen[s] > perTemplate && left[s] > 0
	}
	return again
}

// says is true of an entry with a sign of trouble that is no repetition: a traceback
// like all the others that ends in another error.
func (p *pruning) says(u int, again []bool) bool {
	const longest = 60 // lines; more is no entry
	unit := p.outline.units[u]
	for i := unit.start; i < unit.end && unit.end-unit.start <= longest; i++ {
		if p.relevance.signal[i] >= alarmSignal && !again[i] {
			return true
		}
	}
	return false
}

// statementOf is equal for lines that one statement printed.
func (p *pruning) statementOf(i int) uint64 {
	if p.statements != nil {
		return p.statements[i]
	}
	return template(p.d.lines[i])
}

// Lines that differ in names are one statement's where at least floodLines have the
// same other words, and those are the most of each. A name is a word that fewer than
// one line in nameShare has. So is a short number: a status that most lines have tells
// them from the one that has another.
const (
	floodLines = 20
	nameShare  = 50
)

// statements gives lines that one statement printed one number, though names differ
// where despite says so.
func (d *document) statements(despite bool) []uint64 {
	var common wordCounts
	for _, line := range d.lines {
		eachLogWord(line, func(word uint64, _ bool) { common[word%uint64(len(common))]++ })
	}
	least := int32(max(len(d.lines)/nameShare, 2))
	frame := func(line string) uint64 {
		if fromCompiler(line) { // each is to be mended
			return template(line)
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
			return template(line)
		}
		return h
	}
	slots, counts := d.count(frame)
	of := make([]uint64, len(d.lines))
	for i, s := range slots {
		if counts[s] >= floodLines {
			of[i] = uint64(s)
		} else {
			of[i] = template(d.lines[i])
		}
	}
	return of
}

// wordCounts counts words by their hash. Two that share a place look more common than
// they are, which only keeps more.
type wordCounts [1 << 14]int32

// What stands for numbers and names that differ from line to line.
const (
	anyNumber = '0'
	anyName   = 'a'
)

// eachLogWord hashes the words of a line. Numbers are all anyNumber, but for those of
// up to three digits that are no part of a time.
func eachLogWord(line string, word func(hash uint64, number bool)) {
	const prefix = 300
	line = line[:min(len(line), prefix)]
	for i := 0; i < len(line); i++ {
		h, seen, start := uint64(0), byte(0), i
		for ; i < len(line) && wordClass(class[line[i]]); i++ {
			seen |= 1 << class[line[i]]
			h = bits.RotateLeft64(h, 7) ^ uint64(line[i])
		}
		digits := seen == 1<<digit
		switch {
		case seen == 0:
		case digits && i-start <= 3 && !inTime(line, start, i), seen&(1<<digit) == 0:
			word(mix(mix(h, 0), 0), digits) // mixed once, its low bits are the last letters'
		default:
			word(anyNumber, true)
		}
	}
}

// inTime is true of a number beside a colon or a dot.
func inTime(line string, start, end int) bool {
	return start > 0 && (line[start-1] == ':' || line[start-1] == '.') || end < len(line) && (line[end] == ':' || line[end] == '.')
}
