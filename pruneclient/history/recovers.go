package history

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// idParameters are the parameters in which a tool is given the id of a text that was cut or cleared.
var idParameters = []string{"file_path", "filePath", "path", "id", "prune_id", "segment_id"}

// commandArguments are the arguments in which a tool is given a command or a script.
var commandArguments = []string{"command", "cmd", "commands", "input", "script", "code"}

var idOnly = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^prn_[0-9a-f]{8}$`) })

// recovering matches a command that prints a text which was cut or cleared: the verb recover of any program with an id, because
// the program may have another name, or this program by its name. What surrounds them does not matter: a path, quotes, another
// command before or after it, sudo, env, a shell inside the shell.
var recovering = sync.OnceValue(func() *regexp.Regexp {
	const program = `\bmcp-pruner(?:\.\w+)?[\\'"]*\s+`
	const more = `[^\n;|&]*?`
	return regexp.MustCompile(`\brecover[\\'"]*\s` + more + `\bprn_[0-9a-f]{8}\b|` +
		program + `recover\s+(?:--?[\w-]+[= ]\S+\s+)*[\\'"]*[$%]|` +
		`\bprn_[0-9a-f]{8}\b(?s:.*)` + program + `recover\b|` +
		program + `gc\s` + more + `\bget\s`)
})

// recovers reports whether a call prints a text that was cut or cleared, as far as its spelling tells.
func recovers(tool string, kind Kind, args map[string]any) bool {
	if kind == Edit || kind == Write {
		return false
	}
	name := strings.ToLower(tool)
	if slices.ContainsFunc([]string{RecoverTool, GetTool}, func(own string) bool { return strings.HasSuffix(name, own) }) {
		return true
	}
	for _, argument := range idParameters {
		if id, _ := args[argument].(string); idOnly().MatchString(id) {
			return true
		}
	}
	if kind == Grep || kind == Glob || kind == Read {
		return false
	}
	for _, argument := range commandArguments {
		if text, _ := args[argument].(string); strings.Contains(text, "recover") || strings.Contains(text, " get ") {
			if recovering().MatchString(text) {
				return true
			}
		}
	}
	list, _ := args["command"].([]any)
	return len(list) > 0 && recovering().MatchString(command(args))
}
