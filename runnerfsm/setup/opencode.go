package setup

import (
	_ "embed"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OpencodeFile returns the configuration file that exists in opencode's folder, or opencode.json if there is none.
func OpencodeFile(dir string) string {
	for _, name := range []string{"opencode.jsonc", "opencode.json", "config.json"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return filepath.Join(dir, "opencode.json")
}

//go:embed opencode.js
var opencodeAsk string

// OpencodePlugin returns a plugin whose code can ask(message) a program at that path. The plugin begins with a comment
// and a blank line, after which the function is inserted.
func OpencodePlugin(plugin, program string) string {
	comment, code, _ := strings.Cut(plugin, "\n\n")
	ask := strings.Replace(opencodeAsk, `"mcp-pruner"`, strconv.Quote(program), 1)
	return comment + "\n" + ask + "\n" + code
}
