package setup

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed opencode.js
var opencodeAsk string

// OpencodePlugin returns a plugin whose code can ask(message) a program at that path. The plugin begins with a comment
// and a blank line, after which the function is inserted. The arguments follow those with which it starts the program.
func OpencodePlugin(plugin, program string, arguments ...string) string {
	comment, code, _ := strings.Cut(plugin, "\n\n")
	ask := strings.Replace(opencodeAsk, `"mcp-pruner"`, strconv.Quote(program), 1)
	start := `"opencode"`
	for _, a := range arguments {
		start += ", " + strconv.Quote(a)
	}
	ask = strings.Replace(ask, `"opencode"`, start, 1)
	return comment + "\n" + ask + "\n" + code
}
