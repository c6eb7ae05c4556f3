// Package entry finds the entries for this server in the configurations of clients.
package entry

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
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

// Wrapped reports whether the entry starts another server by way of this program: "mcp-pruner gateway --wrap -- COMMAND".
func (e Entry) Wrapped() bool {
	self, _ := os.Executable()
	wrap, dashes := slices.Index(e.Args, "--wrap"), slices.Index(e.Args, "--")
	return wrap > 0 && dashes > wrap && dashes < len(e.Args)-1 && e.Args[0] == "gateway" && (ourName(e.Command) || e.Command == self)
}

func ourName(word string) bool {
	return strings.HasPrefix(strings.TrimPrefix(filepath.Base(word), "jeeves-"), "mcp-pruner")
}

// Ours reports whether the entry starts this program for its own sake, whatever the entry's name.
func (e Entry) Ours() bool {
	if e.Wrapped() {
		return false
	}
	for _, word := range append([]string{e.Command}, e.Args...) {
		if ourName(word) {
			return true
		}
	}
	return false
}

// Starts reports whether the entry's own command is this program, and not one that is given its name.
func (e Entry) Starts() bool {
	name := strings.TrimPrefix(filepath.Base(e.Command), "jeeves-")
	launcher := slices.Contains([]string{"npx", "npx.cmd", "node", "bunx"}, filepath.Base(e.Command))
	return strings.TrimSuffix(name, ".exe") == "mcp-pruner" || launcher && e.Ours()
}

// String returns the location of the entry.
func (e Entry) String() string {
	if e.Scope == "" {
		return e.File
	}
	return e.File + " (" + e.Scope + ")"
}

// All returns the entries for this server in the configurations of all clients, as seen by a client
// that works in dir: entries named "pruner", and those that start this program. A client whose configuration cannot be
// found has none.
func All(home setup.Home, dir string) []Entry {
	var found []Entry
	for _, c := range agent.Clients {
		project := setup.ProjectServers(c.Name, dir)
		files, err := home.Files(c.Name)
		switch {
		case err == nil && project.Path != "":
			found = append(found, scopedEntries(c.Name, files.Servers, dir)...)
		case err == nil:
			found = append(found, readEntries(c.Name, "", files.Servers, anywhere)...)
		}
		if project.Path != "" {
			found = append(found, readEntries(c.Name, "project", project, anywhere)...)
		}
	}
	return found
}

// configuredServer is the part of an entry that is read.
type configuredServer struct {
	Command     words             `json:"command"`
	Args        []string          `json:"args"`
	Env         map[string]string `json:"env"`
	Environment map[string]string `json:"environment"` // opencode
	URL         string            `json:"url"`
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

// scopedEntries returns the entries of a client whose file has servers of the user and of the user in projects.
func scopedEntries(client string, file setup.File, dir string) []Entry {
	found := readEntries(client, "user", file, anywhere)
	return append(found, readEntries(client, "local", file, func(all map[string]any) any {
		projects, _ := all["projects"].(map[string]any)
		return projects[dir]
	})...)
}

// anywhere selects all of a file.
func anywhere(all map[string]any) any { return all }

// readEntries reads one file, or the part that is selected. A file that does not exist has no entries. An error is
// reported for the whole file only.
func readEntries(client, scope string, file setup.File, part func(map[string]any) any) []Entry {
	at := Entry{Client: client, Scope: scope, File: file.Path}
	text, err := file.Read()
	var data any
	if err == nil {
		data, err = file.Syntax.Decode(text)
	}
	var servers map[string]configuredServer
	if all, ok := data.(map[string]any); ok {
		within, _ := part(all).(map[string]any)
		err = convert(within[agent.Named(client).Servers.Member], &servers)
	}
	switch {
	case err != nil && scope == "local":
		return nil // it is reported once, for the scope user
	case err != nil:
		at.Err = fmt.Errorf("%s: %w", file.Path, err)
		return []Entry{at}
	}
	var found []Entry
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if e := at.filled(name, servers[name]); e.Ours() || name == inject.ServerName {
			found = append(found, e)
		}
	}
	return found
}

// convert decodes data by JSON names. nil has no members.
func convert(data any, into any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("its list of servers cannot be read: %w", err)
	}
	return nil
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
