package initcmd

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// After an update, or when this program was moved, entries of an earlier init start a program that is somewhere else.
// init then changes the program's path in them and nothing else.

// hookArguments are what init tells this program to do in a hook, in this version and in earlier ones.
var hookArguments = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^hook (\S+)( --replace)?((?: --(?:only|except) [\w,*.-]+)*)(?:` + regexp.QuoteMeta(unharmed) + `)?$`)
})

// ownHook returns the program that a client's hook starts, and its selection of tools, if init writes such a command.
func (h home) ownHook(command, client string) (program, flags string, ours bool) {
	program, arguments, ours := h.starts(command)
	m := hookArguments().FindStringSubmatch(arguments)
	if !ours || m == nil || m[1] != client {
		return "", "", false
	}
	return program, m[3], true
}

// foundHook is one command in a list of hooks, and where it is.
type foundHook struct {
	command string
	path    []string
}

func hookCommands(j *setup.JSON, event string) (found []foundHook) {
	list, _ := j.Get("hooks", event).([]any)
	for i := range list {
		path := []string{"hooks", event, strconv.Itoa(i), "hooks", "0", "command"}
		if command, ok := j.Get(path...).(string); ok {
			found = append(found, foundHook{command, path})
		}
	}
	return found
}

// moveHooks changes the commands of a client's event, and a matcher that an earlier version wrote.
func (h home) moveHooks(j *setup.JSON, of *agent.Client, line string, e agent.Event) error {
	client := of.Name
	for _, c := range hookCommands(j, e.Name) {
		program, flags, ours := h.ownHook(c.command, client)
		if matcher := append(slices.Clone(c.path[:3]), "matcher"); ours && e.Was != "" && j.Get(matcher...) == e.Was {
			if err := replace(j, e.Matcher, matcher); err != nil {
				return err
			}
		}
		if !filepath.IsAbs(program) {
			continue
		}
		line := line
		if h.tools == nil {
			line += flags
		}
		if err := replace(j, line+h.guard(of), c.path); err != nil {
			return err
		}
	}
	return nil
}

// moveServer changes the command of a server's entry to that of the value that init would write.
func moveServer(j *setup.JSON, value any, path []string) error {
	entry, _ := value.(map[string]any)
	at := append(append([]string{}, path...), "command")
	switch command := entry["command"].(type) {
	case string:
		return moveCommand(j, command, at)
	case []any: // opencode
		return moveCommand(j, command[0].(string), append(at, "0"))
	}
	return nil // the proxy's address
}

// moveCommand changes the path of a program. A name that is looked for on PATH stays.
func moveCommand(j *setup.JSON, program string, path []string) error {
	if now, ok := j.Get(path...).(string); !ok || !filepath.IsAbs(now) {
		return nil
	}
	return replace(j, program, path)
}

// replace changes a string that is there.
func replace(j *setup.JSON, value string, path []string) error {
	if j.Get(path...) == value {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return j.SetText(string(text), path...)
}

var pluginStart = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^const program = (".*")$`) })

// pluginProgram returns the program that a client's plugin starts.
func pluginProgram(text []byte) string {
	m := pluginStart().FindSubmatch(text)
	if m == nil {
		return ""
	}
	program, err := strconv.Unquote(string(m[1]))
	if err != nil {
		return ""
	}
	return program
}
