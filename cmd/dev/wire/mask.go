package main

import (
	"fmt"
	"regexp"
)

// masks are all that two runs of one program may answer differently, with the reason. Everything else is compared byte
// by byte.
var masks = []struct {
	of   *regexp.Regexp
	as   string
	why  string
	same bool // equal texts stay recognisable: each gets the number of its first appearance
}{
	{regexp.MustCompile(`\bprn_([0-9a-f]{32}|[0-9a-f]{8})\b`), "prn_ID", "ids of originals are random; their length stays visible", true},
	{regexp.MustCompile(`(\\*"(?:duration_ms|pruner_duration_ms|elapsed_ms)\\*":)\d+`), "${1}MS", "durations", false},
	{regexp.MustCompile(`(\\*"created_at\\*":\\*")\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "${1}CLOCK", "the clock, in the ledger's segments", false},
}

// masker replaces what the masks match in the texts of one conversation.
type masker struct{ numbers map[string]int }

func newMasker() *masker { return &masker{numbers: map[string]int{}} }

func (m *masker) mask(text string) string {
	for _, k := range masks {
		if !k.same {
			text = k.of.ReplaceAllString(text, k.as)
			continue
		}
		text = k.of.ReplaceAllStringFunc(text, func(found string) string {
			if m.numbers[found] == 0 {
				m.numbers[found] = len(m.numbers) + 1
			}
			return fmt.Sprintf("%s%d_of_%d", k.as, m.numbers[found], len(found))
		})
	}
	return text
}
