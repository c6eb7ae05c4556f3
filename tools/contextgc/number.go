package contextgc

import "strconv"

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
