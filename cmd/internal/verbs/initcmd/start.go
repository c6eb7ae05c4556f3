package initcmd

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// startPhrase follows the program in the command that starts the proxy unless it runs.
const startPhrase = " proxy --ensure --port "

// withStart adds hooks that start the proxy before the client's first request, and before each prompt in case it has ended.
func (h home) withStart(p piece, c *agent.Client) piece {
	if len(c.Proxy.Start) == 0 {
		return p
	}
	p.note = "The client starts the proxy itself, before its first request."
	start, ok := c.HookShell(h.system).Start(h.system, h.path)
	return extended(p, edits(func(j *setup.JSON) error {
		if !ok {
			return fmt.Errorf("%s runs hooks with a shell that cannot start %s: move it to a path of letters and digits", c.Title, h.path)
		}
		line := start + startPhrase + strconv.Itoa(proxyPort)
		for _, event := range c.Proxy.Start {
			if err := addStart(j, event, line, h.startEntry); err != nil {
				return err
			}
		}
		return nil
	}), takesOut(func(j *setup.JSON) {
		for _, event := range c.Proxy.Start {
			j.RemoveElements(h.startEntry, "hooks", event)
		}
	}))
}

// startPiece is the hooks that start the proxy, in another file than its address.
func (h home) startPiece(file setup.File, c *agent.Client) piece {
	same := func(text []byte) ([]byte, error) { return text, nil }
	p := h.withStart(piece{kind: start, file: file, install: same, remove: same}, c)
	p.note = fmt.Sprintf("The client starts the proxy itself once you trust these hooks: start %s, which asks, or open /hooks there.", c.Name)
	p.present = finds(func(j *setup.JSON) bool {
		list, _ := j.Get("hooks", c.Proxy.Start[0]).([]any)
		return slices.ContainsFunc(list, h.startEntry)
	})
	return p
}

// startEntry reports whether an entry in a list of hooks is the one that init writes to start the proxy.
func (h home) startEntry(v any) bool {
	command, one := onlyCommand(v)
	return one && h.startsProxy(command)
}

// startsProxy reports whether a command is the one that init writes to start the proxy.
func (h home) startsProxy(command string) bool {
	_, arguments, ours := h.starts(command)
	port, ok := strings.CutPrefix(" "+arguments, startPhrase)
	_, err := strconv.ParseUint(port, 10, 16)
	return ours && ok && err == nil
}

// addStart adds the command to an event's hooks, or changes the program in it.
func addStart(j *setup.JSON, event, line string, ours func(any) bool) error {
	list, _ := j.Get("hooks", event).([]any)
	if at := slices.IndexFunc(list, ours); at >= 0 {
		return replace(j, line, []string{"hooks", event, strconv.Itoa(at), "hooks", "0", "command"})
	}
	entry := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": line, "timeout": startTimeout}}}
	return j.Append(entry, "hooks", event)
}

// startTimeout is the number of seconds that a client waits for the proxy.
const startTimeout = 15

// onlyCommand returns the command of an entry in a list of hooks that has no other.
func onlyCommand(v any) (command string, one bool) {
	entry, _ := v.(map[string]any)
	commands, _ := entry["hooks"].([]any)
	if len(commands) != 1 {
		return "", false
	}
	only, _ := commands[0].(map[string]any)
	command, one = only["command"].(string)
	return command, one
}

// unitPiece starts the proxy with the user's session, for a client that has no hook at its start. ok is false where no
// such service is known.
func (h home) unitPiece() (p piece, ok bool) {
	path, text, enable := h.service()
	if path == "" {
		return piece{}, false
	}
	p = filePiece(unit, setup.File{Path: path}, text, ownService)
	p.note = "Untried here: it is written and checked, but was never run by a real " + h.system + " session. Start it with: " + enable
	install := p.install
	p.install = func(now []byte) ([]byte, error) {
		after, err := install(now)
		if err == nil && h.system == "linux" && strings.ContainsAny(h.path, "\"'\\") {
			return nil, fmt.Errorf("systemd cannot start %s: move it to a path without quotes and backslashes", h.path)
		}
		return after, err
	}
	return p, true
}

// ownService reports whether init wrote the file of a service.
func ownService(text []byte) bool {
	return written(text) || strings.Contains(string(text), "<string>mcp-pruner.proxy</string>")
}

// service returns the file of a service of the user's session, its content, and the command that starts it.
func (h home) service() (path, text, enable string) {
	config, err := h.Folder(agent.Folder{Variable: "XDG_CONFIG_HOME", Default: ".config"})
	if h.system == "darwin" {
		config, err = h.Folder(agent.Folder{Variable: "HOME"})
	}
	if err != nil {
		return "", "", ""
	}
	switch h.system {
	case "linux":
		const name = "mcp-pruner-proxy.service"
		return filepath.Join(config, "systemd", "user", name), fmt.Sprintf(systemdUnit, systemdQuote(h.path), proxyPort), "systemctl --user enable --now " + name
	case "darwin":
		path := filepath.Join(config, "Library", "LaunchAgents", "mcp-pruner.proxy.plist")
		return path, fmt.Sprintf(launchAgent, escaped(h.path), proxyPort), "launchctl bootstrap gui/$(id -u) " + path
	}
	return "", "", ""
}

const systemdUnit = `# Written by mcp-pruner init.
[Unit]
Description=mcp-pruner proxy between coding agents and their models' APIs

[Service]
ExecStart=%s proxy --port %d
Restart=on-failure

[Install]
WantedBy=default.target
`

// systemdQuote quotes a program for ExecStart.
func systemdQuote(path string) string { return `"` + strings.ReplaceAll(path, "%", "%%") + `"` }

const launchAgent = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>mcp-pruner.proxy</string>
	<key>ProgramArguments</key>
	<array>
		<string>%s</string>
		<string>proxy</string>
		<string>--port</string>
		<string>%d</string>
	</array>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
</dict>
</plist>
`

// escaped returns a text for XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a strings.Builder never fails
	return b.String()
}
