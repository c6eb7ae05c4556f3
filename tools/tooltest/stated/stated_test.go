package stated

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCheck(t *testing.T) {
	page := Page{t, "P", "It waits\n2.5 s, keeps 9,500 bytes and the last 3. It waits 2.5 s. A .05 share; 1 day, or 2 days."}
	for _, c := range []struct {
		sentence, name string
		value          any
		fault          string
	}{
		{"It waits %s s", "wait", 2.5, ""},
		{"keeps %s bytes and", "room", 9500, ""},
		{"the last %s.", "last", int64(3), ""},
		{"A %s share", "share", .05, ""},
		{"It waits %s s", "wait", 3, `P says "It waits\n2.5 s", but wait is 3`},
		{"keeps %s words", "room", 9500, `P does not say "keeps %s words"; room is 9500`},
		{"keeps", "room", 1, `the sentence "keeps" needs %s once, in place of the number`},
	} {
		assert.Equal(t, c.fault, page.fault(c.sentence, c.name, amount(c.value)))
	}
}
