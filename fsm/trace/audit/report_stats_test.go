package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNumbersAreWordedForPeople(t *testing.T) {
	assert.Equal(t, "999 -1,000 1,234,567", strings.Join([]string{grouped(999), grouped(-1000), grouped(1234567)}, " "))
	assert.Equal(t, "999µs 1.00ms 12.3ms 123ms 1.23s 120s", strings.Join([]string{span(999), span(1000), span(12345), span(123456), span(1234567), span(120_000_000)}, " "))
	assert.Equal(t, `- read "a\nb" "\u202e"`, strings.Join([]string{toolName(""), toolName("read"), toolName("a\nb"), toolName("\u202e")}, " "))
}
