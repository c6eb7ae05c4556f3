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

// Count returns the number of tokens.
func Count(text string) int {
	n, err := vocabulary().Count(text)
	if err != nil { // only a time limit for matching, which is not set, gives one
		panic(err)
	}
	return n
}
