package clearing

import (
	"slices"
	"strings"
)

// recoverTool returns the name of our tool recover_text, or "" if it is not offered.
func recoverTool(offered []string) string {
	i := slices.IndexFunc(offered, func(name string) bool { return strings.HasSuffix(strings.ToLower(name), "recover_text") })
	if i < 0 {
		return ""
	}
	return offered[i]
}

// readTool returns the name of our server's tool read, or "" if it is not offered, or if a command can be run.
func readTool(offered []string) (own string) {
	for _, name := range offered {
		lower := strings.ToLower(name)
		if strings.HasSuffix(lower, "pruner__read") || strings.HasSuffix(lower, "pruner_read") {
			own = name
			continue
		}
		if slices.ContainsFunc([]string{"bash", "shell", "exec", "terminal", "command", "run"}, func(part string) bool { return strings.Contains(lower, part) }) {
			return ""
		}
	}
	return own
}
