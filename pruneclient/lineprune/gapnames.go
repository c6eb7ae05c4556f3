package lineprune

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Within returns the openings in the lines from..to. They must be in the order of their lines.
func Within(all []structure.Opening, from, to int) []structure.Opening {
	at := func(line int) int {
		i, _ := slices.BinarySearchFunc(all, line, func(o structure.Opening, line int) int { return cmp.Compare(o.Line, line) })
		return i
	}
	return all[at(from):at(to+1)]
}

const (
	mostTokens   = 12 // size of a marker with names
	quoteTokens  = 2  // of them for the quotes and the comma of JSON
	leastBytes   = 4  // bytes left out per byte of the names; in a smaller gap they would take up what it saves
	leastClipped = 6  // bytes of a name of which the end is left out
	longestNames = 96 // bytes; so few tokens have no more
)

// names returns the names of what begins in the range, as many as have room in a marker that begins with the given text:
// first what encloses the lines after the range, then the outermost, then the most relevant. "+9" stands for nine others.
// It returns "" if nothing begins there, or nothing that has room.
func (b Block) names(before string) string {
	room := mostTokens - rangeTokens(before)
	switch b.Place {
	case Element, Member:
		room -= quoteTokens
	case Comment:
		room--
	}
	fits := func(text string) bool {
		return tokens.Few(text) <= room && len(text)*leastBytes <= b.Size && len(text) <= longestNames
	}
	best := ""
	var named []structure.Opening
	order := b.byWeight()
	for _, o := range order {
		others := len(order) - len(named) - 1
		if text := list(append(slices.Clone(named), o), others); fits(text) {
			named, best = append(named, o), text
			continue
		}
		if best == "" {
			best = shortened(o, others, fits)
		}
		break // a name of less weight must not stand for one of more
	}
	return best
}

// byWeight returns the openings, those first that a reader misses most.
func (b Block) byWeight() []structure.Opening {
	var order []structure.Opening
	seen := make(map[[2]string]bool, len(b.Openings))
	for _, o := range b.Openings { // methods of several types may have the same name
		if key := [2]string{o.Keyword, o.Name}; !seen[key] {
			seen[key] = true
			order = append(order, o)
		}
	}
	encloses := func(o structure.Opening) int {
		if o.End > b.End {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(x, y structure.Opening) int {
		return cmp.Or(cmp.Compare(encloses(x), encloses(y)), cmp.Compare(x.Depth, y.Depth), cmp.Compare(y.Score, x.Score))
	})
	return order
}

// list writes openings in the order of their lines, and a keyword only where it changes.
func list(named []structure.Opening, more int) string {
	slices.SortStableFunc(named, func(x, y structure.Opening) int { return cmp.Compare(x.Line, y.Line) })
	var out strings.Builder
	keyword := ""
	for i, o := range named {
		if i > 0 {
			out.WriteString(", ")
		}
		if o.Keyword != keyword && o.Keyword != "" {
			out.WriteString(o.Keyword + " ")
		}
		keyword = o.Keyword
		out.WriteString(o.Name)
	}
	if more > 0 {
		out.WriteString(" +" + strconv.Itoa(more))
	}
	return out.String()
}

// shortened returns an opening without its keyword and, if that is still too long, without the last words of its name.
func shortened(o structure.Opening, more int, fits func(string) bool) string {
	name := o.Name
	if o.Keyword = ""; fits(list([]structure.Opening{o}, more)) {
		return list([]structure.Opening{o}, more)
	}
	for i := len(name) - 1; i >= leastClipped; i-- {
		if !wordEnds(name, i) {
			continue
		}
		o.Name = strings.TrimRight(name[:i], " _-.:/(") + gapOpen
		if text := list([]structure.Opening{o}, more); fits(text) {
			return text
		}
	}
	return ""
}

// wordEnds reports whether a word of a name ends before byte i.
func wordEnds(name string, i int) bool {
	before, after := rune(name[i-1]), rune(name[i])
	if before >= unicode.MaxASCII || after >= unicode.MaxASCII {
		return false
	}
	return unicode.IsLower(before) && !unicode.IsLower(after) || unicode.IsLetter(before) && !unicode.IsLetter(after)
}

// rangeTokens returns the tokens of the beginning of a marker and of the colon after it: numbers have one for three digits.
func rangeTokens(text string) int {
	sum, digits := 1, 0
	for _, r := range strings.Replace(text, gapOpen, ".", 1) {
		if r >= '0' && r <= '9' {
			if digits%3 == 0 {
				sum++
			}
			digits++
			continue
		}
		digits = 0
		sum++
	}
	return sum
}
