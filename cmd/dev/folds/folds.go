// Package folds divides the fixtures' sessions into folds, so that no session is measured with weights that were
// learned from it. Like the held-out half of the fixtures, a fold has later sessions of a project, or other
// repositories than the rest.
package folds

import (
	"strings"
	"time"
)

// Count is the number of folds.
const Count = 4

// Of returns the fold of a session by its id, 0 to Count-1. Sessions of SWE-bench (owner__name-number) are divided by
// repository with a hash. Sessions whose id begins with a date are divided by time. Those whose id is a UUID are later
// than all dated ones and are in the last fold. All others are divided by a hash of the id.
func Of(id string) int {
	if owner, rest, ok := strings.Cut(id, "__"); ok {
		if cut := strings.LastIndexByte(rest, '-'); cut > 0 {
			rest = rest[:cut]
		}
		return spread(owner + "/" + rest)
	}
	if len(id) > len(time.DateOnly) {
		if _, err := time.Parse(time.DateOnly, id[:len(time.DateOnly)]); err == nil {
			return dated(id)
		}
	}
	if len(id) >= 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' {
		return Count - 1
	}
	return spread(id)
}

// starts holds the first day of the second and of the third fold. They divide the dated sessions into parts of similar
// size.
var starts = []string{"2026-01-15", "2026-01-22"}

// dated returns the number of entries of starts that are not after the id's date.
func dated(id string) int {
	fold := 0
	for _, start := range starts {
		if id >= start {
			fold++
		}
	}
	return fold
}

// spread returns the FNV-1a hash modulo the number of folds.
func spread(name string) int {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return int(h >> 17 % Count)
}
