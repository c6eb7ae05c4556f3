package setup

import (
	"fmt"
	"path/filepath"
	"runtime"
)

// Home finds the configuration files of one user's clients. It is the only place that knows where they are.
type Home struct {
	Lookup func(string) (string, bool) // finds a variable of the environment, as os.LookupEnv does
}

// Files are the configuration files of a client.
type Files struct {
	Dir     string // folder of the client's settings
	Hooks   File   // settings with the client's hooks; of opencode: our plugin
	Servers File   // settings with the client's MCP servers
}

// Clients are the clients whose files are known.
var Clients = []string{"claude", "codex", "gemini", "cursor", "opencode"}

// Files returns the files of one of Clients. They need not exist.
func (h Home) Files(client string) (Files, error) {
	switch client {
	case "claude":
		dir, err := h.folder("CLAUDE_CONFIG_DIR", ".claude")
		if err != nil {
			return Files{}, err
		}
		servers, err := h.folder("CLAUDE_CONFIG_DIR")
		return Files{
			Dir:     dir,
			Hooks:   File{filepath.Join(dir, "settings.json"), claudeJSON},
			Servers: ServersFile(client, filepath.Join(servers, ".claude.json")),
		}, err
	case "codex":
		dir, err := h.folder("CODEX_HOME", ".codex")
		return Files{
			Dir:     dir,
			Hooks:   File{filepath.Join(dir, "hooks.json"), codexHooks},
			Servers: ServersFile(client, filepath.Join(dir, "config.toml")),
		}, err
	case "gemini":
		base, err := h.folder("GEMINI_CLI_HOME")
		dir := filepath.Join(base, ".gemini")
		settings := ServersFile(client, filepath.Join(dir, "settings.json"))
		return Files{Dir: dir, Hooks: settings, Servers: settings}, err
	case "opencode":
		base, err := h.folder("XDG_CONFIG_HOME", ".config")
		dir := filepath.Join(base, "opencode")
		return Files{
			Dir:     dir,
			Hooks:   File{Path: filepath.Join(dir, "plugins", "mcp-pruner.js")},
			Servers: ServersFile(client, OpencodeFile(dir)),
		}, err
	case "cursor":
		base, err := h.folder("", ".cursor")
		return Files{Dir: base, Servers: ServersFile(client, filepath.Join(base, "mcp.json"))}, err
	}
	return Files{}, fmt.Errorf("unknown client %q", client)
}

// ServersFile returns a file at a path as one that has the MCP servers of a client.
func ServersFile(client, path string) File {
	syntax := map[string]*Syntax{"claude": claudeJSON, "codex": codexTOML, "gemini": geminiJSON, "opencode": opencodeJSON, "cursor": cursorJSON}
	return File{path, syntax[client]}
}

// ProjectServers returns the file in which a project lists MCP servers for Claude Code.
func ProjectServers(dir string) File { return File{filepath.Join(dir, ".mcp.json"), claudeJSON} }

// folder returns the folder that a variable names, or one below the home folder if it is not set. A relative path is
// an error, because it names another folder in every directory.
func (h Home) folder(variable string, fallback ...string) (string, error) {
	if v := h.get(variable); v != "" {
		return v, h.absolute(variable, v)
	}
	name := "HOME"
	home := h.get(name)
	if home == "" && runtime.GOOS == "windows" {
		name = "USERPROFILE"
		home = h.get(name)
	}
	if home == "" {
		return "", fmt.Errorf("%s is not set, so the configuration of the client cannot be found: set it to your home folder", name)
	}
	return filepath.Join(append([]string{home}, fallback...)...), h.absolute(name, home)
}

func (h Home) get(variable string) string {
	if v, set := h.Lookup(variable); set && variable != "" {
		return v
	}
	return ""
}

func (h Home) absolute(variable, value string) error {
	if filepath.IsAbs(value) {
		return nil
	}
	return fmt.Errorf("%s is %q, so the configuration of the client cannot be found: that is another folder in each directory; "+
		"set it to an absolute path", variable, value)
}
