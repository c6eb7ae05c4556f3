package initcmd

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// hookPiece adds entries to the lists under "hooks".
func (h home) hookPiece(file setup.File, c *agent.Client) piece {
	line, startErr := h.hookCommand(c)
	client, entries := c.Name, c.Hooks.Events
	p := piece{kind: hooks, file: file, note: c.Hooks.Note}
	if c.Hooks.AsErrors {
		p.note = c.Title + " shows its model every replaced result as an error."
	}
	p.install = func(text []byte) ([]byte, error) {
		if startErr != nil {
			return nil, startErr
		}
		return edit(text, func(j *setup.JSON) error {
			for _, e := range entries {
				if h.has(j.Get("hooks", e.Name), client) {
					if err := h.moveHooks(j, c, line+h.tools.flags(), e); err != nil {
						return err
					}
					continue
				}
				entry := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line + h.tools.flags() + h.guard(c), "timeout": e.Timeout}}}
				if e.Matcher != "" {
					entry["matcher"] = e.Matcher
				}
				if err := j.Append(entry, "hooks", e.Name); err != nil {
					return err
				}
			}
			return nil
		})
	}
	p.remove = func(text []byte) ([]byte, error) {
		return edit(text, func(j *setup.JSON) error {
			for _, e := range entries {
				j.RemoveElements(func(v any) bool { return h.ours(v, client) }, "hooks", e.Name)
			}
			return nil
		})
	}
	p.present = func(text []byte) bool {
		j, err := setup.ParseJSON(text)
		return err == nil && h.has(j.Get("hooks", entries[0].Name), client)
	}
	p.foreign = func(text []byte) []string {
		return h.foreignHooks(text, func(command string) bool {
			_, _, ours := h.ownHook(command, client)
			return ours || c.Proxy != nil && h.startsProxy(command)
		})
	}
	p.program = func(text []byte) string { return h.hookProgram(text, entries[0].Name, client) }
	return p
}

// hookProgram returns the program that our hook starts at an event; "": there is none.
func (h home) hookProgram(text []byte, event, client string) string {
	j, err := setup.ParseJSON(text)
	if err != nil {
		return ""
	}
	for _, c := range hookCommands(j, event) {
		if program, _, ours := h.ownHook(c.command, client); ours {
			return program
		}
	}
	return ""
}

// hookCommand returns the command that a client runs after its tools.
func (h home) hookCommand(c *agent.Client) (string, error) {
	start, ok := c.HookShell(h.system).Start(h.system, h.path)
	switch {
	case !ok && h.onPath:
		start = "mcp-pruner"
	case !ok:
		return "", fmt.Errorf("%s runs hooks with cmd.exe, which cannot start %s: move it to a path of letters and digits, or put its folder on PATH", c.Name, h.path)
	}
	line := start + " hook " + c.Name
	if c.Hooks.AsErrors {
		line += " --replace"
	}
	return line, nil
}

// unharmed ends a command of a POSIX shell so that it ends with the status 0.
const unharmed = " || true"

// guard returns the end of the command for a client that takes a status for an answer.
func (h home) guard(c *agent.Client) string {
	if c.Hooks.StatusReplaces && c.HookShell(h.system) == agent.POSIX {
		return unharmed
	}
	return ""
}

func (h home) has(list any, client string) bool {
	entries, _ := list.([]any)
	for _, e := range entries {
		if h.ours(e, client) {
			return true
		}
	}
	return false
}

// ours reports whether an entry in a list of hooks is one that init writes.
func (h home) ours(v any, client string) bool {
	command, one := onlyCommand(v)
	_, _, ours := h.ownHook(command, client)
	return one && ours
}

// pluginPiece is a piece that is a whole file.
func (h home) pluginPiece(file setup.File, c *agent.Client) piece {
	text := setup.Plugin(c.Name, c.Hooks.Plugin, h.path, h.tools.arguments()...)
	return piece{
		kind: hooks, file: file,
		install: func(now []byte) ([]byte, error) {
			if now != nil && !written(now) {
				return nil, errNotWritten
			}
			if m := pluginTools.FindSubmatch(now); m != nil && h.tools == nil {
				return pluginTools.ReplaceAll([]byte(text), m[0]), nil
			}
			return []byte(text), nil
		},
		remove:  func(now []byte) ([]byte, error) { return nil, nil },
		present: written,
		program: pluginProgram,
		foreign: foreignFile,
	}
}

// writtenBy is in the first line of each whole file that init writes.
const writtenBy = "ritten by"

// written reports whether init wrote a file.
func written(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(first, []byte(writtenBy)) && bytes.Contains(first, []byte("mcp-pruner init"))
}

var errNotWritten = errors.New("the file is there already, and init did not write it: give it another name, or delete it")

// foreignFile lists a file of the user's at the place of one that init writes.
func foreignFile(text []byte) []string {
	if written(text) {
		return nil
	}
	return []string{"the whole file"}
}
