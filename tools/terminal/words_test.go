package terminal

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWords(t *testing.T) {
	assert.Equal(t, "0 lines, 1 line, 2 lines", Count(0, "line")+", "+Count(1, "line")+", "+Count(2, "line"))
	assert.Equal(t, "matches", Plural(uint64(2), "match", "matches"))
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 12345: "12,345", 1234567: "1,234,567", -1000: "-1,000"} {
		assert.Equal(t, want, Grouped(n))
	}
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		assert.Equal(t, want, List(words, "or"))
	}
}
