package initcmd

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// statusLine is the piece that shows in the client itself what was cut. It is written only if the user says so.
const statusLine kind = "status"

// statusArgument precedes the user's own command in ours.
const statusArgument = " statusline --first "

// statusPiece puts our line after the one of the user's own command, which ours runs.
func (h home) statusPiece(file setup.File, c *agent.Client) piece {
	at, command := c.StatusLine, append(append([]string{}, c.StatusLine...), "command")
	p := piece{kind: statusLine, file: file}
	p.install = edits(func(j *setup.JSON) error {
		start, ok := agent.POSIX.Start(h.system, h.path)
		if !ok {
			return fmt.Errorf("no command can start %s", h.path)
		}
		if where := h.managedLine(c); where != "" {
			return fmt.Errorf("an administrator's settings (%s) set the status line", where)
		}
		now, _ := j.Get(command...).(string)
		first, ours := h.ownStatus(now)
		switch {
		case j.Get(at...) == nil:
			return j.Set(map[string]any{"type": "command", "command": start + " statusline"}, at...)
		case j.Get(append(append([]string{}, at...), "type")...) != "command" || now == "":
			return errors.New("the status line that is there is no command")
		case ours && first == "":
			return replace(j, start+" statusline", command)
		case ours:
			return replace(j, start+statusArgument+quoted(first), command)
		}
		return replace(j, start+statusArgument+quoted(now), command)
	})
	p.remove = edits(func(j *setup.JSON) error {
		now, _ := j.Get(command...).(string)
		first, ours := h.ownStatus(now)
		switch {
		case ours && first == "":
			j.Remove(at...)
		case ours:
			return replace(j, first, command)
		}
		return nil
	})
	read := func(text []byte) (now string, ours bool) {
		if j, err := setup.ParseJSON(text); err == nil {
			now, _ = j.Get(command...).(string)
			_, ours = h.ownStatus(now)
		}
		return now, ours
	}
	p.present = func(text []byte) bool {
		_, ours := read(text)
		return ours
	}
	p.foreign = func(text []byte) []string {
		now, ours := read(text)
		if ours || !h.mentions(now) {
			return nil
		}
		return []string{strings.Join(at, ".") + ": " + now}
	}
	return p
}

// ownStatus returns the user's own command in ours.
func (h home) ownStatus(command string) (first string, ours bool) {
	_, arguments, ours := h.starts(command)
	if ours && arguments == "statusline" {
		return "", true
	}
	own, ok := strings.CutPrefix(" "+arguments, statusArgument)
	if !ours || !ok || own == "" || own[0] != '\'' {
		return "", false
	}
	first, rest, ok := single(own)
	return first, ok && rest == ""
}

// quoted returns a text as one word of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// managedLine returns the file of an administrator that sets the status line, or "".
func (h home) managedLine(c *agent.Client) string {
	if c.Files.Managed == nil {
		return ""
	}
	get := func(name string) string { v, _ := h.Lookup(name); return v }
	for _, path := range c.Files.Managed(h.system, get) {
		text, err := (setup.File{Path: path}).Read()
		if err != nil || text == nil {
			continue
		}
		if j, err := setup.ParseJSON(text); err == nil && j.Get(c.StatusLine...) != nil {
			return path
		}
	}
	return ""
}
