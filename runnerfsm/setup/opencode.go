package setup

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed opencode.js
var opencodeAsk string

// OpencodePlugin returns a plugin whose code can ask(message) a program at that path. The plugin begins with a comment
// and a blank line, after which the function is inserted.
func OpencodePlugin(plugin, program string) string {
	comment, code, _ := strings.Cut(plugin, "\n\n")
	ask := strings.Replace(opencodeAsk, `"mcp-pruner"`, strconv.Quote(program), 1)
	return comment + "\n" + ask + "\n" + code
}
