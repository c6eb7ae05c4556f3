package initcmd

import (
	"bytes"
	"fmt"
	"slices"

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
	p.install = edits(func(j *setup.JSON) error {
		if startErr != nil {
			return startErr
		}
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
	p.remove = takesOut(func(j *setup.JSON) {
		for _, e := range entries {
			j.RemoveElements(func(v any) bool { return h.ours(v, client) }, "hooks", e.Name)
		}
	})
	p.present = finds(func(j *setup.JSON) bool { return h.has(j.Get("hooks", entries[0].Name), client) })
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
	return slices.ContainsFunc(entries, func(e any) bool { return h.ours(e, client) })
}

// ours reports whether an entry in a list of hooks is one that init writes.
func (h home) ours(v any, client string) bool {
	command, one := onlyCommand(v)
	_, _, ours := h.ownHook(command, client)
	return one && ours
}

func (h home) pluginPiece(file setup.File, c *agent.Client) piece {
	text := setup.Plugin(c.Name, c.Hooks.Plugin, h.path, h.tools.arguments()...)
	p := filePiece(hooks, file, text, written)
	p.program = pluginProgram
	install := p.install
	p.install = func(now []byte) ([]byte, error) {
		after, err := install(now)
		if m := pluginTools.FindSubmatch(now); m != nil && err == nil && h.tools == nil {
			return pluginTools.ReplaceAll(after, m[0]), nil
		}
		return after, err
	}
	return p
}

// writtenBy is in the first line of each whole file that init writes.
const writtenBy = "ritten by"

// written reports whether init wrote a file.
func written(text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return bytes.Contains(first, []byte(writtenBy)) && bytes.Contains(first, []byte("mcp-pruner init"))
}
