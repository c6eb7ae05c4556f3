package tokens

import "strings"

// An estimate looks at windows of this size, evenly spread.
const windowBytes = 64

// Estimate is about the number of tokens, from half a kilobyte of the text: it takes
// less than a microsecond. Of files half come out within 6 %, nine of ten within 14 %,
// and what tools print within 25 %.
func Estimate(text string) int { return estimate(text, 8) }

// EstimateWell looks at four kilobytes and takes up to six microseconds: 4 %, 10 % and
// 17 %; what leaving out a part of a text saves, 5 % and 11 %.
func EstimateWell(text string) int { return estimate(text, 64) }

func estimate(text string, windows int) int {
	if text == "" {
		return 0
	}
	if len(text) <= windows*windowBytes {
		return clamp(weigh(text, 0, len(text)), len(text))
	}
	sum := 0
	for i := range windows {
		at := len(text)*(2*i+1)/(2*windows) - windowBytes/2
		sum += weigh(text, at, at+windowBytes)
	}
	return clamp(int(float64(sum)*float64(len(text))/float64(windows*windowBytes)), len(text))
}

func clamp(weight, bytes int) int { return min(max(weight>>weightBits, bytes/16, 1), bytes) }

// weigh adds up, byte by byte, what each adds to the tokens given its kind, that
// of the byte before it, and how many of its kind stand right before it.
func weigh(text string, from, to int) int {
	before := kindLineEnd
	if from > 0 {
		before = kinds[text[from-1]]
	}
	sum, run, table := int32(0), kind(0), &weights // run has a bit for each of its kind
	for _, c := range []byte(text[from:to]) {
		k := kinds[c]
		run = (2*run + 1) & (((before ^ k) - 1) >> 28) // four bits or none, without a branch
		sum += int32(table[(before<<4|k|run)&(1<<12-1)])
		before = k
	}
	return int(sum)
}

// kind is what an estimate tells bytes apart by. Kinds are sixteen apart, so that
// one goes into an index beside the other.
type kind uint32

const (
	kindPunct kind = iota << 4 // and control characters
	kindJoint                  // joins words to names
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
