package settings

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// prefixes are the beginnings of names that only this project's settings have.
var prefixes = []string{"PRUNER_", "MCP_PRUNER_", "JEEVES_PRUNER_", "JEEVES_MCP_PRUNER_", "DEEPINFRA_"}

// Stray is a variable with such a prefix that is not a setting. Most likely it is misspelled, and the
// intended setting has its default.
type Stray struct {
	Name     string
	Intended string // the setting with the nearest name; "" if none is near
}

// Unknown returns the strays of an environment, sorted by name.
func Unknown(env []string) []Stray {
	known := []string{
		Hook, Tell, // of no server
		"MCP_PRUNER_PROXY_SECRET", // Codex takes a header from it
	}
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

// nearest returns the known name that is nearest, at most three edits away, or "".
func nearest(name string, known []string) string {
	const far = 4
	best, least := "", far
	for _, k := range known {
		if d := upstream.EditDistance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}
