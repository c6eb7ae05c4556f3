package stated

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCheck(t *testing.T) {
	page := "It waits\n2.5 s, keeps 9,500 bytes and the last 3. It waits 2.5 s. A .05 share; 1 day, or 2 days."
	for _, c := range []struct {
		fact  Fact
		fault string
	}{
		{Fact{"P", "It waits %s s", "wait", 2500 * time.Millisecond, time.Second}, ""},
		{Fact{"P", "keeps %s bytes and", "room", 9500, nil}, ""},
		{Fact{"P", "the last %s.", "last", 3, nil}, ""},
		{Fact{"P", "A %s share", "share", .05, nil}, ""},
		{Fact{"P", "It waits %s s", "wait", 3 * time.Second, time.Second}, `P says "It waits\n2.5 s", but wait is 3`},
		{Fact{"P", "keeps %s words", "room", 9500, nil}, `P does not say "keeps %s words"; room is 9500`},
		{Fact{"P", "keeps", "room", 1, nil}, `the sentence "keeps" needs %s once, in place of the number`},
	} {
		assert.Equal(t, c.fault, c.fact.check(page))
	}
}
