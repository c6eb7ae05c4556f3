package lineprune

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEnds: of a text that nobody asked about what failed is kept, and the head and the tail within a fraction; a record whole or not
// at all; a patch as it is.
func TestEnds(t *testing.T) {
	log := strings.Split(strings.Repeat("2026-11-29T05:00:01 INFO request served in 3 ms\n", 400), "\n")[:400]
	log[0], log[200], log[399] = "2026-11-29T05:00:00 INFO version 4.2.1 starts", "2026-11-29T05:00:01 ERROR the database is gone", "2026-11-29T05:00:09 INFO the end"
	var people, patch strings.Builder
	for n := range 100 {
		fmt.Fprintf(&people, "Entity: person_%d\nType: person\nLikes: tea, coffee and number %d\n\n", n, n)
		fmt.Fprintf(&patch, "diff --git a/f%d.go b/f%d.go\n--- a/f%d.go\n+++ b/f%d.go\n@@ -1 +1 @@\n-old\n+new\n", n, n, n, n)
	}
	for text, parts := range map[string][]string{
		strings.Join(log, "\n"): {log[0] + "\n" + log[1], log[200], log[398] + "\n" + log[399]},
		people.String():         {"Entity: person_0\nType: person\nLikes: tea, coffee and number 0\n", "Entity: person_99\nType: person\nLikes: tea, coffee and number 99"},
		patch.String():          {patch.String()},
	} {
		res := prune(t, text, "why did it fail?", Auto, Options{Ends: .1})
		cut := Render(text, res, RenderOptions{})
		for _, part := range parts {
			assert.Contains(t, cut, part)
		}
		if !res.Whole() {
			assert.Less(t, len(cut), len(text)/8)
		}
		if strings.HasPrefix(text, "Entity") {
			assert.Equal(t, strings.Count(cut, "Entity:"), strings.Count(cut, "Likes:"), "%s", cut)
		}
	}
}
