// Package tokens says how many tokens of OpenAI's o200k_base vocabulary a text
// is. The vocabulary is part of the program; nothing is fetched.
//
// It is the yardstick for every figure in tokens that this project gives. Models
// of other makers cut text up differently; their counts run within some ten per
// cent of these for code and English.
package tokens

import (
	"sync"
	"sync/atomic"

	"github.com/tiktoken-go/tokenizer/codec"
)

// ExactLimit is the size of text, in bytes, up to which Measure counts. It takes
// some milliseconds to count that much.
const ExactLimit = 256 << 10

// vocabulary is loaded when it is first needed. That takes a processor for some 15
// ms, and afterwards the garbage collector has another six megabytes to look
// through: a process that counts nothing pays neither.
var vocabulary = sync.OnceValue(codec.NewO200kBase)

var loading, loaded atomic.Bool

// Load loads the vocabulary.
func Load() {
	vocabulary()
	loaded.Store(true)
}

// Measure counts texts of ordinary size and estimates larger ones. It does not
// wait for the vocabulary: the first call sees to it that it is loaded, and until
// it is there is an estimate.
func Measure(text string) (tokens int, exact bool) {
	if loaded.Load() && len(text) <= ExactLimit {
		return Count(text), true
	}
	if !loading.Swap(true) {
		go Load() // it ends by itself
	}
	return Estimate(text), false
}

// Count is the number of tokens. It cuts the text into the pieces that the
// vocabulary's rules cut it into, and looks each up among those met before: the
// library alone, which is asked for new pieces, takes ten times as long.
func Count(text string) int {
	m := memos.Get().(memo)
	defer memos.Put(m)
	total := 0
	for i := 0; i < len(text); {
		end, plain := piece(text, i)
		if plain {
			total += m.count(text[i:end])
		} else {
			end = boundary(text, end)
			total += ask(text[i:end])
		}
		i = end
	}
	return total
}

// memo remembers how many tokens a piece is.
type memo map[string]int32

var memos = sync.Pool{New: func() any { return make(memo) }}

// What a memo may hold: some five megabytes when it is full.
const (
	memoPieces = 1 << 16
	memoBytes  = 32
)

func (m memo) count(piece string) int {
	if n, ok := m[piece]; ok {
		return int(n)
	}
	n := ask(piece)
	if len(piece) <= memoBytes && len(m) < memoPieces {
		m[string([]byte(piece))] = int32(n) // a copy: the piece would keep its text alive
	}
	return n
}

func ask(text string) int {
	n, err := vocabulary().Count(text)
	if err != nil { // only a time limit for matching, which is not set, gives one
		panic(err)
	}
	return n
}
