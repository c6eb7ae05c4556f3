package terminal

import (
	"fmt"
	"strconv"
	"strings"
)

// Plural returns the word for a number of things.
func Plural[N int | int64 | uint64](n N, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Count returns a number with a noun: "1 line", "2 lines".
func Count[N int | int64 | uint64](n N, noun string) string {
	return fmt.Sprintf("%d %s", n, Plural(n, noun, noun+"s"))
}

// Grouped returns a number with its digits in groups of three, such as 12,345.
func Grouped(n int) string {
	if n < 0 {
		return "-" + Grouped(-n)
	}
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// List lists words as English does: "a, b or c".
func List(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
