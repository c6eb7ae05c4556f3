package history

import (
	"slices"
	"strings"
)

// patchReplacements reads a patch as Codex and opencode write it for their tool apply_patch: for each hunk its file, and what
// stands there before and after. It returns nil if a text is no such patch.
func patchReplacements(text string) []Replacement {
	if !strings.HasPrefix(strings.TrimSpace(text), "*** Begin Patch") {
		return nil
	}
	var list []Replacement
	var file string
	var before, after []string
	flush := func() {
		if !slices.Equal(before, after) {
			list = append(list, Replacement{Old: strings.Join(before, "\n"), New: strings.Join(after, "\n"), File: file})
		}
		before, after = nil, nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "*** "):
			flush()
			for _, action := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
				if name, ok := strings.CutPrefix(line, action); ok {
					file = strings.TrimSpace(name)
				}
			}
		case strings.HasPrefix(line, "@@"):
			flush()
		case strings.HasPrefix(line, "-"):
			before = append(before, line[1:])
		case strings.HasPrefix(line, "+"):
			after = append(after, line[1:])
		default: // stands in both; an empty line may have lost its space
			line = strings.TrimPrefix(line, " ")
			before, after = append(before, line), append(after, line)
		}
	}
	flush()
	return list
}
