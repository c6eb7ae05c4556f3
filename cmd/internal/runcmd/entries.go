package runcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"mcp-pruner/runnerfsm"
)

// Entry is an entry for this server in a client's configuration.
type Entry struct {
	Client  string
	File    string
	Scope   string // of claude: local, user or project; otherwise ""
	Name    string // the key of the entry
	Command string // empty for a server over HTTP
	Args    []string
	Env     map[string]string
	URL     string // of a server over HTTP
	Err     error  // the file cannot be read; Command, Args and URL are then empty
}

// Ours reports whether the entry starts this program, whatever the entry's name.
func (e Entry) Ours() bool {
	for _, word := range append([]string{e.Command}, e.Args...) {
		name := strings.TrimPrefix(filepath.Base(word), "jeeves-")
		if strings.HasPrefix(name, "mcp-pruner") {
			return true
		}
	}
	return false
}

// Same reports whether the entry starts the server exactly as given.
func (e Entry) Same(s runnerfsm.Server) bool {
	return e.URL == "" && e.Command == s.Command && slices.Equal(e.Args, s.Args) && maps.Equal(e.Env, s.Env)
}

// String returns the location of the entry.
func (e Entry) String() string {
	if e.Scope == "" {
		return e.File
	}
	return e.File + " (" + e.Scope + ")"
}

// Entries returns the entries for this server in the configurations of all clients, as seen by a client
// that works in dir: entries named "pruner", and those that start this program.
func Entries(env []string, dir string) []Entry {
	set := runnerfsm.Settings{Env: env}
	home := set.Home()
	below := func(variable string, otherwise ...string) string {
		if path := set.Get(variable); path != "" {
			return path
		}
		return filepath.Join(append([]string{home}, otherwise...)...)
	}
	var found []Entry
	if home != "" || set.Get("CLAUDE_CONFIG_DIR") != "" {
		found = append(found, claudeEntries(filepath.Join(below("CLAUDE_CONFIG_DIR"), ".claude.json"), dir)...)
	}
	found = append(found, readEntries("claude", "project", filepath.Join(dir, ".mcp.json"), json.Unmarshal)...)
	if home == "" {
		return found
	}
	found = append(found, readEntries("codex", "", filepath.Join(below("CODEX_HOME", ".codex"), "config.toml"), toml.Unmarshal)...)
	found = append(found, readEntries("gemini", "", filepath.Join(home, ".gemini", "settings.json"), json.Unmarshal)...)
	found = append(found, readEntries("cursor", "", filepath.Join(home, ".cursor", "mcp.json"), json.Unmarshal)...)
	opencode := filepath.Join(below("XDG_CONFIG_HOME", ".config"), "opencode", "opencode.json")
	return append(found, readEntries("opencode", "", opencode, json.Unmarshal)...)
}

// entriesOf returns the entries of one client.
func entriesOf(client string, env []string, dir string) []Entry {
	return slices.DeleteFunc(Entries(env, dir), func(e Entry) bool { return e.Client != client })
}

// configured is the part of a client's configuration that is read. Its fields cover the clients' different
// names for the list of servers.
type configured struct {
	MCPServers map[string]configuredServer `json:"mcpServers" toml:"-"`
	Codex      map[string]configuredServer `json:"-" toml:"mcp_servers"`
	OpenCode   map[string]configuredServer `json:"mcp" toml:"-"`
}

type configuredServer struct {
	Command     words             `json:"command" toml:"command"`
	Args        []string          `json:"args" toml:"args"`
	Env         map[string]string `json:"env" toml:"env"`
	Environment map[string]string `json:"environment" toml:"-"` // opencode
	URL         string            `json:"url" toml:"url"`
}

// words is a command: a string or, in opencode's configuration, a list.
type words []string

func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

func (w *words) UnmarshalTOML(value any) error {
	one, ok := value.(string)
	if !ok {
		return errors.New("command is no string")
	}
	*w = words{one}
	return nil
}

func claudeEntries(file, dir string) []Entry {
	found := readEntries("claude", "user", file, json.Unmarshal)
	return append(found, readEntries("claude", "local", file, func(text []byte, into any) error {
		var all struct{ Projects map[string]json.RawMessage }
		if err := json.Unmarshal(text, &all); err != nil || all.Projects[dir] == nil {
			return nil // the error is reported once
		}
		return json.Unmarshal(all.Projects[dir], into)
	})...)
}

// readEntries reads one file. A file that does not exist has no entries.
func readEntries(client, scope, file string, decode func([]byte, any) error) []Entry {
	at := Entry{Client: client, Scope: scope, File: file}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var read configured
	if err == nil {
		err = decode(text, &read)
	}
	if err != nil {
		at.Err = fmt.Errorf("%s cannot be read: %w", file, err)
		return []Entry{at}
	}
	var found []Entry
	for _, servers := range []map[string]configuredServer{read.MCPServers, read.Codex, read.OpenCode} {
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			if e := at.filled(name, servers[name]); e.Ours() || name == runnerfsm.ServerName {
				found = append(found, e)
			}
		}
	}
	return found
}

func (e Entry) filled(name string, s configuredServer) Entry {
	e.Name, e.URL, e.Args, e.Env = name, s.URL, s.Args, s.Env
	if len(s.Command) > 0 {
		e.Command, e.Args = s.Command[0], append(slices.Clone([]string(s.Command[1:])), s.Args...)
	}
	if e.Env == nil {
		e.Env = s.Environment
	}
	return e
}
