package initcmd

import (
	"bytes"
	_ "embed"
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
	switch client {
	case "claude":
		return []piece{
			h.hookPiece(files.Hooks, "claude", h.claudeHooks(), ""),
			h.mcpPiece(files.Servers, []string{"mcpServers", "pruner"}, map[string]any{"type": "stdio", "command": h.path, "args": []any{}, "env": map[string]any{"PRUNER_URL": "embedded"}}),
			h.claudeProxy(files.Hooks),
		}, nil
	case "codex":
		return []piece{
			h.hookPiece(files.Hooks, "codex", h.codexHooks(), "Codex runs new hooks only after you trust them: start codex and open /hooks."),
			h.codexMCP(files.Servers),
		}, nil
	case "gemini":
		return []piece{
			h.hookPiece(files.Hooks, "gemini", h.geminiHooks(), "Gemini CLI shows its model every replaced result as an error."),
			h.mcpPiece(files.Servers, []string{"mcpServers", "pruner"}, map[string]any{"command": h.path, "env": map[string]any{"PRUNER_URL": "embedded"}}),
		}, nil
	case "opencode":
		return []piece{
			h.opencodePlugin(files.Hooks),
			h.mcpPiece(files.Servers, []string{"mcp", "pruner"}, map[string]any{"type": "local", "command": []any{h.path}, "environment": map[string]any{"PRUNER_URL": "embedded"}}),
			h.opencodeProxy(files.Servers),
		}, nil
	}
	return nil, fmt.Errorf("init cannot set up %s", client)
}

// hook is one entry of a client's hooks.
type hook struct {
	event, matcher string
	timeout        int // in the client's unit
}

func (h home) claudeHooks() []hook {
	return []hook{{"PostToolUse", "Bash|Read|Grep|mcp__.*", 5}, {"PreCompact", "", 5}, {"SessionStart", "compact", 5}}
}

func (h home) codexHooks() []hook { return []hook{{"PostToolUse", "Bash|mcp__.*", 5}} }
func (h home) geminiHooks() []hook {
	return []hook{{"AfterTool", "read_file|run_shell_command|search_file_content|grep_search", 5000}}
}

// hookPiece adds entries to the lists under "hooks".
func (h home) hookPiece(file setup.File, client string, entries []hook, note string) piece {
	line, startErr := h.hookCommand(client)
	p := piece{kind: hooks, file: file, note: note}
	p.install = func(text []byte) ([]byte, error) {
		if startErr != nil {
			return nil, startErr
		}
		return edit(text, func(j *setup.JSON) error {
			for _, e := range entries {
				if h.has(j.Get("hooks", e.event), client) {
					if err := moveHooks(j, client, line, e.event); err != nil {
						return err
					}
					continue
				}
				entry := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": e.timeout}}}
				if e.matcher != "" {
					entry["matcher"] = e.matcher
				}
				if err := j.Append(entry, "hooks", e.event); err != nil {
					return err
				}
			}
			return nil
		})
	}
	p.remove = func(text []byte) ([]byte, error) {
		return edit(text, func(j *setup.JSON) error {
			for _, e := range entries {
				j.RemoveElements(func(v any) bool { return h.ours(v, client) }, "hooks", e.event)
			}
			return nil
		})
	}
	p.present = func(text []byte) bool {
		j, err := setup.ParseJSON(text)
		return err == nil && h.has(j.Get("hooks", entries[0].event), client)
	}
	p.program = func(text []byte) string {
		j, err := setup.ParseJSON(text)
		if err != nil {
			return ""
		}
		for _, c := range hookCommands(j, entries[0].event) {
			if program := hookProgram(c.command, client); program != "" {
				return program
			}
		}
		return ""
	}
	return p
}

// hookCommand returns the command that a client runs after its tools.
func (h home) hookCommand(client string) (string, error) {
	start, ok := agent.Named(client).HookShell(h.system).Start(h.system, h.path)
	switch {
	case !ok && h.onPath:
		start = "mcp-pruner"
	case !ok:
		return "", fmt.Errorf("%s runs hooks with cmd.exe, which cannot start %s: move it to a path of letters and digits, or put its folder on PATH", client, h.path)
	}
	if client == "gemini" {
		return start + " hook gemini --replace", nil
	}
	return start + " hook " + client, nil
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

// mcpPiece adds this program's server to a client's servers.
func (h home) mcpPiece(file setup.File, path []string, entry map[string]any) piece {
	return h.memberPiece(mcp, file, entry, path...)
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

//go:embed opencode.js
var opencodeJS string

// opencodePlugin is a piece that is a whole file.
func (h home) opencodePlugin(file setup.File) piece {
	text := setup.OpencodePlugin(opencodeJS, h.path)
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

// codexMCP adds a table at the end of config.toml.
func (h home) codexMCP(file setup.File) piece {
	block := tomlBegin + "[mcp_servers.pruner]\ncommand = " + strconv.Quote(h.path) + "\n[mcp_servers.pruner.env]\nPRUNER_URL = \"embedded\"\n" + tomlEnd
	return piece{
		kind: mcp, file: file,
		install: func(text []byte) ([]byte, error) { return addTOML(file.Syntax, text, block) },
		remove:  removeTOML,
		present: func(text []byte) bool { return bytes.Contains(text, []byte(tomlBegin)) },
	}
}

// serversKey matches the start of a value of the key mcp_servers.
var serversKey = regexp.MustCompile(`(?m)^[ \t]*["']?mcp_servers["']?[ \t]*=`)

func addTOML(syntax setup.Syntax, text []byte, block string) ([]byte, error) {
	if bytes.Contains(text, []byte(tomlBegin)) {
		return moveTable(text, block), nil
	}
	data, err := syntax.Decode(text)
	if err != nil {
		return nil, err
	}
	all, _ := data.(map[string]any)
	servers, _ := all["mcp_servers"].(map[string]any)
	if servers["pruner"] != nil {
		return nil, errors.New("mcp_servers.pruner is there already")
	}
	lead := ""
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		lead = "\n"
	}
	after := append(bytes.Clone(text), lead+block...)
	if at := serversKey.FindIndex(text); at != nil {
		if _, err := syntax.Decode(after); err != nil {
			return nil, fmt.Errorf("line %d: mcp_servers is an inline table, to which nothing can be added: write its servers as tables, [mcp_servers.NAME]",
				1+bytes.Count(text[:at[0]], []byte("\n")))
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
