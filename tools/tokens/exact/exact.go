// Package exact counts the tokens of OpenAI's o200k_base vocabulary. The vocabulary
// is part of whatever links this package, about seven megabytes; nothing is fetched.
package exact

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// vocabulary is loaded when the first text is counted. That takes a processor for
// some 15 ms, and afterwards the garbage collector has six megabytes more to look
// through: a process that counts nothing pays neither. A server that answers
// within a tenth of a millisecond does not count, it estimates.
var vocabulary = sync.OnceValue(codec.NewO200kBase)

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
