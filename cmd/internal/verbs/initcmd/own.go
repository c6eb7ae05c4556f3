package initcmd

import (
	"fmt"
	"io"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
)

// An entry is ours only if its whole command is one that init writes, of this version or an earlier one: the path of a program
// of our name, and the arguments that init gives it. A command that only mentions this program is the user's.

// bare are the characters of which an unquoted word in any of the shells is made here.
var bare = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\s'"` + "`" + `$;|&<>()#]+`) })

// firstWord divides a command line into its first word, without its quotes, and the rest after a space.
func firstWord(command string) (word, rest string, ok bool) {
	command = strings.TrimPrefix(command, "& ") // PowerShell
	if command == "" {
		return "", "", false
	}
	switch q := command[0]; q {
	case '\'':
		word, rest, ok = single(command)
	case '"': // an earlier version
		word, rest, ok = strings.Cut(command[1:], `"`)
		ok = ok && !strings.ContainsAny(word, "$`")
	default:
		word = bare().FindString(command)
		rest, ok = command[len(word):], word != ""
	}
	if !ok || rest != "" && rest[0] != ' ' {
		return "", "", false
	}
	return word, strings.TrimPrefix(rest, " "), true
}

// single takes a word in single quotes from the beginning of a command line. For a quote in it, a POSIX shell needs a
// backslash and three quotes, PowerShell two quotes.
func single(command string) (word, rest string, ok bool) {
	for rest = command[1:]; ; {
		part, after, found := strings.Cut(rest, "'")
		if !found {
			return "", "", false
		}
		word += part
		switch {
		case strings.HasPrefix(after, `\''`):
			word, rest = word+"'", after[len(`\''`):]
		case strings.HasPrefix(after, "'"):
			word, rest = word+"'", after[1:]
		default:
			return word, after, true
		}
	}
}

// starts divides a command line into the program that it starts and its arguments, if that is this program: by its name in
// any folder, or by its own path.
func (h home) starts(command string) (program, arguments string, ours bool) {
	program, arguments, ok := firstWord(command)
	return program, arguments, ok && h.isProgram(program)
}

// isProgram reports whether a path is one of this program.
func (h home) isProgram(program string) bool {
	slashed := strings.ReplaceAll(program, `\`, "/")
	name := strings.TrimSuffix(path.Base(slashed), ".exe")
	return name == "mcp-pruner" || slashed == strings.ReplaceAll(h.path, `\`, "/")
}

// mentions reports whether a text of the user's names this program.
func (h home) mentions(text string) bool {
	slashed := strings.NewReplacer(`\`, "/")
	return strings.Contains(text, "mcp-pruner") || strings.Contains(slashed.Replace(text), slashed.Replace(h.path))
}

// foreignHooks lists the commands in all hooks of a file that mention this program and are not what init writes.
func (h home) foreignHooks(text []byte, ours func(command string) bool) (found []string) {
	j, err := setup.ParseJSON(text)
	if err != nil {
		return nil
	}
	events, _ := j.Get("hooks").(map[string]any)
	for _, event := range slices.Sorted(maps.Keys(events)) {
		list, _ := events[event].([]any)
		for _, v := range list {
			entry, _ := v.(map[string]any)
			commands, _ := entry["hooks"].([]any)
			for _, one := range commands {
				only, _ := one.(map[string]any)
				command, _ := only["command"].(string)
				if h.mentions(command) && (len(commands) > 1 || !ours(command)) {
					found = append(found, fmt.Sprintf("hooks.%s: %s", event, command))
				}
			}
		}
	}
	return found
}

// sayForeign names what mentions this program in a file and stays.
func sayForeign(w io.Writer, list []piece) {
	for _, p := range list {
		text, err := p.file.Read()
		if err != nil || text == nil || p.foreign == nil {
			continue
		}
		for _, what := range p.foreign(text) {
			_, _ = fmt.Fprintf(w, "left as it is, because init does not write it so: %s (%s)\n", what, p.file.Path)
		}
	}
}
