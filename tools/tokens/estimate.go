// Package tokens estimates how many tokens of OpenAI's o200k_base vocabulary a text
// has, in about a microsecond and without the vocabulary. Package
// [mcp-pruner/tools/tokens/exact] counts them; it is linked only where it is used.
//
// Every figure in tokens of this project is in o200k tokens. Other models split text
// differently; for code and English their counts are within about ten per cent.
package tokens

import "strings"

// An estimate looks at windows of this size, evenly spread.
const windowBytes = 64

// Estimate is about the number of tokens, from half a kilobyte of the text: it takes
// less than a microsecond. Of files half come out within 6 %, nine of ten within 14 %,
// and what tools print within 25 %.
func Estimate(text string) int { return estimate(text, 8) }

// EstimateWell looks at four kilobytes and takes three microseconds: 4 %, 10 % and
// 17 %; what leaving out a part of a text saves, 5 % and 11 %.
func EstimateWell(text string) int { return estimate(text, 64) }

func estimate(text string, windows int) int {
	size := windows * windowBytes
	if len(text) <= size {
		return clamp(weighAll(text), len(text))
	}
	sum := 0
	for i := 0; i < windows; i += lanes {
		var in [lanes]stretch
		for lane := range in {
			at := len(text)*(2*(i+lane)+1)/(2*windows) - windowBytes/2
			in[lane] = stretch{text[at : at+windowBytes], after(text[max(0, at-1):at])}
		}
		sum += weighLanes(in, windowBytes)
	}
	return clamp(int(float64(sum)*float64(len(text))/float64(size)), len(text))
}

func clamp(weight, bytes int) int { return min(max(weight>>weightBits, bytes/16, 1), bytes) }

// weighAll weighs a whole text.
func weighAll(text string) int {
	n := len(text) / lanes
	var in [lanes]stretch
	for lane := range in {
		in[lane] = stretch{text[n*lane : n*(lane+1)], after(text[:n*lane])}
	}
	return weighLanes(in, n) + weigh(stretch{text[n*lanes:], after(text[:n*lanes])})
}

// stretch is some of a text, and the move that the byte before it was.
type stretch struct {
	text string
	move move
}

// lanes is how many stretches are weighed side by side: what a byte weighs has to
// wait for the byte before it, but not for those of another stretch.
const lanes = 4

// weighLanes adds up what each byte of stretches of one size adds to the tokens.
func weighLanes(in [lanes]stretch, size int) int {
	a, b, c, d := in[0].text[:size], in[1].text[:size], in[2].text[:size], in[3].text[:size]
	moveA, moveB, moveC, moveD := in[0].move, in[1].move, in[2].move, in[3].move
	sum := int32(0)
	for i := range size {
		moveA, moveB, moveC, moveD = moveA.next(a[i]), moveB.next(b[i]), moveC.next(c[i]), moveD.next(d[i])
		sum += moveA.weight() + moveB.weight() + moveC.weight() + moveD.weight()
	}
	return int(sum)
}

func weigh(in stretch) int {
	sum := int32(0)
	for i := range len(in.text) {
		in.move = in.move.next(in.text[i])
		sum += in.move.weight()
	}
	return int(sum)
}

// after is the move that the last byte of a text was. Before the first there was
// the end of a line.
func after(text string) move {
	m := moveTo(kindLineEnd, 0)
	for _, c := range []byte(text[max(0, len(text)-maxRun-1):]) {
		m = m.next(c)
	}
	return m
}

// kind is what an estimate tells bytes apart by.
type kind uint8

const (
	kindPunct kind = iota // and control characters
	kindJoint             // joins words to names
	kindUpper
	kindLower
	kindDigit
	kindSpace
	kindTab
	kindLineEnd
	kindLatin  // the first byte of an accented letter
	kindScript // of a letter of two bytes: Greek, Cyrillic, Hebrew, Arabic
	kindSymbol // of dashes, quotes, arrows, boxes
	kindKana   // of kana and the punctuation beside them
	kindHan
	kindHangul
	kindOther
	kindRest // any other byte of a character
)

var kinds = func() (of [256]kind) {
	for c := range of {
		of[c] = kindOf(byte(c))
	}
	return of
}()

func kindOf(c byte) kind {
	switch {
	case c >= 0x80:
		return kindOfWide(c)
	case c >= 'A' && c <= 'Z':
		return kindUpper
	case c >= 'a' && c <= 'z':
		return kindLower
	case c >= '0' && c <= '9':
		return kindDigit
	case c == ' ':
		return kindSpace
	case c == '\t':
		return kindTab
	case c == '\n' || c == '\r':
		return kindLineEnd
	case strings.IndexByte("-_./", c) >= 0:
		return kindJoint
	}
	return kindPunct
}

func kindOfWide(c byte) kind {
	switch {
	case c < 0xc2:
		return kindRest
	case c <= 0xc9:
		return kindLatin
	case c <= 0xdf:
		return kindScript
	case c == 0xe2:
		return kindSymbol
	case c == 0xe3:
		return kindKana
	case c >= 0xe4 && c <= 0xe9:
		return kindHan
	case c >= 0xea && c <= 0xed:
		return kindHangul
	}
	return kindOther
}
