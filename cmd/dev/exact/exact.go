// Package exact counts the tokens of OpenAI's o200k_base vocabulary. The vocabulary adds about seven megabytes to
// every program that links this package; nothing is downloaded.
package exact

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// vocabulary is loaded when the first text is counted, so that a process that counts nothing pays nothing. Loading
// takes about 15 ms of processor time, and afterwards the garbage collector has six megabytes more to scan. Servers,
// which answer within a tenth of a millisecond, estimate instead of counting.
var vocabulary = sync.OnceValue(codec.NewO200kBase)

// Count returns the number of tokens. It splits the text into pieces by the vocabulary's rules and remembers the
// count of each piece. Only new pieces are counted by the library, which alone would take ten times as long.
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

// memo remembers the number of tokens of each piece.
type memo map[string]int32

var memos = sync.Pool{New: func() any { return make(memo) }}

// Limits of a memo, which takes about five megabytes when it is full.
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
