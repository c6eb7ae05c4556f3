package initcmd

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// kind is a kind of piece: something that init can add to a client's configuration.
type kind string

// The kinds.
const (
	hooks kind = "hooks"
	mcp   kind = "mcp"
	proxy kind = "proxy"
)

// proxyURL is the address of `mcp-pruner proxy --port 8787`.
const proxyURL = "http://127.0.0.1:8787"

// piece is one addition to one file.
type piece struct {
	kind    kind
	file    setup.File
	install func([]byte) ([]byte, error) // returns the same text if the piece is already installed
	remove  func([]byte) ([]byte, error)
	present func([]byte) bool
	program func([]byte) string // hooks: the program that they start, or "" if init did not write the command
	note    string              // what the user must do in addition
	text    string              // rule: as a user would write it
}

// home finds the clients' configurations.
type home struct {
	setup.Home
	system string // as runtime.GOOS
	path   string // this program's path
	onPath bool   // a shell finds it as "mcp-pruner"
}

// pieces lists the pieces for a client.
func (h home) pieces(client string) ([]piece, error) {
	files, err := h.Files(client)
	if err != nil {
		return nil, err
	}
	c := agent.Named(client)
	if c.Hooks == nil {
		return nil, fmt.Errorf("init cannot set up %s", client)
	}
	found := []piece{h.hookPiece(files.Hooks, c)}
	if c.Hooks.Plugin != "" {
		found[0] = h.pluginPiece(files.Hooks, c.Hooks.Plugin)
	}
	switch {
	case c.Servers.Entry != nil:
		entry := c.Servers.Entry(h.path, map[string]any{"PRUNER_URL": "embedded"})
		found = append(found, h.memberPiece(mcp, files.Servers, entry, c.Servers.Member, "pruner"))
	case c.Files.Servers.As == agent.TOML:
		found = append(found, h.tablePiece(files.Servers, c.Servers.Member))
	}
	if c.Proxy != nil {
		found = append(found, h.proxyPiece(files.At(c.Proxy.In), *c.Proxy))
	}
	return found, nil
}

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
					if err := moveHooks(j, client, line, e.Name); err != nil {
						return err
					}
					continue
				}
				entry := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": e.Timeout}}}
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
	p.program = func(text []byte) string {
		j, err := setup.ParseJSON(text)
		if err != nil {
			return ""
		}
		for _, c := range hookCommands(j, entries[0].Name) {
			if program := hookProgram(c.command, client); program != "" {
				return program
			}
		}
		return ""
	}
	return p
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

func (h home) has(list any, client string) bool {
	entries, _ := list.([]any)
	for _, e := range entries {
		if h.ours(e, client) {
			return true
		}
	}
	return false
}

// ours reports whether an entry in a list of hooks runs this program and nothing else.
func (h home) ours(v any, client string) bool {
	entry, _ := v.(map[string]any)
	commands, _ := entry["hooks"].([]any)
	if len(commands) != 1 {
		return false
	}
	one, _ := commands[0].(map[string]any)
	command, _ := one["command"].(string)
	return h.names(command) && strings.Contains(command, " hook "+client)
}

// names reports whether a command starts this program, under its own name or another.
func (h home) names(command string) bool {
	slashed := strings.NewReplacer(`\`, "/")
	return strings.Contains(command, "mcp-pruner") || strings.Contains(slashed.Replace(command), slashed.Replace(h.path))
}

// memberPiece adds one member. A member of the same name that init did not write is an error.
func (h home) memberPiece(k kind, file setup.File, value any, path ...string) piece {
	isOurs := func(v any) bool {
		text := fmt.Sprint(v)
		return h.names(text) || k == proxy && text == fmt.Sprint(value)
	}
	p := piece{kind: k, file: file}
	p.install = func(text []byte) ([]byte, error) {
		return edit(text, func(j *setup.JSON) error {
			switch there := j.Get(path...); {
			case there == nil:
				return j.Set(value, path...)
			case isOurs(there):
				return moveServer(j, value, path)
			}
			return fmt.Errorf("%s is set to something else", strings.Join(path, "."))
		})
	}
	p.remove = func(text []byte) ([]byte, error) {
		return edit(text, func(j *setup.JSON) error {
			if isOurs(j.Get(path...)) {
				j.Remove(path...)
			}
			return nil
		})
	}
	p.present = func(text []byte) bool {
		j, err := setup.ParseJSON(text)
		return err == nil && j.Get(path...) != nil && isOurs(j.Get(path...))
	}
	if k == proxy {
		p.note = "Start the proxy before the client: mcp-pruner proxy --port 8787"
	}
	return p
}

// edit changes a JSON file. If the change has no effect, the file keeps its bytes.
func edit(text []byte, change func(*setup.JSON) error) ([]byte, error) {
	j, err := setup.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	before := j.Bytes()
	if err := change(j); err != nil {
		return nil, err
	}
	if after := j.Bytes(); !bytes.Equal(before, after) {
		return after, nil
	}
	return text, nil
}

// pluginPiece is a piece that is a whole file.
func (h home) pluginPiece(file setup.File, plugin string) piece {
	text := setup.OpencodePlugin(plugin, h.path)
	return piece{
		kind: hooks, file: file,
		install: func(now []byte) ([]byte, error) { return []byte(text), nil },
		remove:  func(now []byte) ([]byte, error) { return nil, nil },
		present: func(now []byte) bool { return bytes.Contains(now, []byte("mcp-pruner")) },
		program: pluginProgram,
	}
}

// Lines before and after init's part of a TOML file.
const (
	tomlBegin = "# mcp-pruner init: begin\n"
	tomlEnd   = "# mcp-pruner init: end\n"
)

// tablePiece adds a table of our server at the end of a TOML file.
func (h home) tablePiece(file setup.File, member string) piece {
	table := member + ".pruner"
	block := tomlBegin + "[" + table + "]\ncommand = " + strconv.Quote(h.path) + "\n[" + table + ".env]\nPRUNER_URL = \"embedded\"\n" + tomlEnd
	return piece{
		kind: mcp, file: file,
		install: func(text []byte) ([]byte, error) { return addTOML(file.Syntax, text, member, block) },
		remove:  removeTOML,
		present: func(text []byte) bool { return bytes.Contains(text, []byte(tomlBegin)) },
	}
}

func addTOML(syntax setup.Syntax, text []byte, member, block string) ([]byte, error) {
	if bytes.Contains(text, []byte(tomlBegin)) {
		return moveTable(text, block), nil
	}
	data, err := syntax.Decode(text)
	if err != nil {
		return nil, err
	}
	all, _ := data.(map[string]any)
	servers, _ := all[member].(map[string]any)
	if servers["pruner"] != nil {
		return nil, errors.New(member + ".pruner is there already")
	}
	lead := ""
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		lead = "\n"
	}
	after := append(bytes.Clone(text), lead+block...)
	key := regexp.MustCompile(`(?m)^[ \t]*["']?` + member + `["']?[ \t]*=`) // the start of a value
	if at := key.FindIndex(text); at != nil {
		if _, err := syntax.Decode(after); err != nil {
			return nil, fmt.Errorf("line %d: %s is an inline table, to which nothing can be added: write its servers as tables, [%s.NAME]",
				1+bytes.Count(text[:at[0]], []byte("\n")), member, member)
		}
	}
	return after, nil
}

func removeTOML(text []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(tomlBegin))
	if !ok {
		return text, nil
	}
	_, after, ok := bytes.Cut(rest, []byte(tomlEnd))
	if !ok {
		return nil, errors.New("the line \"" + strings.TrimSpace(tomlEnd) + "\" is missing; remove our table by hand")
	}
	return append(bytes.Clone(before), after...), nil
}
