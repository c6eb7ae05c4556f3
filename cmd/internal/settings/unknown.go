package settings

import (
	"slices"
	"strings"
)

// prefixes are those that only settings of ours have.
var prefixes = []string{"PRUNER_", "MCP_PRUNER_", "JEEVES_PRUNER_", "JEEVES_MCP_PRUNER_", "DEEPINFRA_"}

// Stray is a variable that is named like a setting and is not one: most likely it is
// misspelled, and what it was meant to set has its default.
type Stray struct {
	Name     string
	Intended string // the setting whose name is nearest; "" when none is near
}

// Unknown lists the strays of an environment, by name.
func Unknown(env []string) []Stray {
	var known []string
	for _, r := range table() {
		known = append(known, r.Name)
	}
	var strays []Stray
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		ours := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		if ours && value != "" && !slices.Contains(known, name) {
			strays = append(strays, Stray{name, nearest(name, known)})
		}
	}
	slices.SortFunc(strays, func(a, b Stray) int { return strings.Compare(a.Name, b.Name) })
	return slices.Compact(strays)
}

// nearest is the known name that is at most three edits away.
func nearest(name string, known []string) string {
	const far = 4
	best, least := "", far
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
