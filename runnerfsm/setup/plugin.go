package setup

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed ask.js
var ask string

// Plugin returns a client's plugin whose code can ask(message) the program at that path, and which has shortestOutput, the
// length from which asking pays. ask.js is inserted after the plugin's first comment, which a blank line must end. The
// arguments follow those with which ask starts the program.
func Plugin(client, plugin, program string, arguments ...string) string {
	comment, code, _ := strings.Cut(plugin, "\n\n")
	words := []string{`"hook"`, strconv.Quote(client)}
	for _, a := range arguments {
		words = append(words, strconv.Quote(a))
	}
	function := strings.Replace(ask, `"mcp-pruner"`, strconv.Quote(program), 1)
	function = strings.Replace(function, `["hook"]`, "["+strings.Join(words, ", ")+"]", 1)
	return comment + "\n" + function + "\n" + code
}
