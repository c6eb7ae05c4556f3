// Package wrap puts this program in front of the servers of a client's configuration, each where it stands and under its own name:
// it starts the server and shortens the texts of its tools. It takes itself out again, and puts back the servers that earlier
// versions moved into a file of their own.
package wrap

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// List is the list of MCP servers in a user's configuration of a client.
type List struct {
	Client  *agent.Client
	File    setup.File
	Program string // path of this program

	rules []string // files that may have rules on the commands of servers
}

// Clients returns the names of the clients whose servers can be wrapped.
func Clients() []string {
	return agent.Names(agent.With(func(c *agent.Client) bool { return c.Servers.Member != "" }))
}

// Of returns the servers of a client. managed are the paths of an administrator's settings.
func Of(client, program string, lookup func(string) (string, bool), managed []string) (List, error) {
	if !slices.Contains(Clients(), client) {
		return List{}, fmt.Errorf("unknown client %q: want %s; for others write the words \"%s gateway --wrap --\" before a server's command by hand",
			client, strings.Join(Clients(), ", "), program)
	}
	home := setup.Home{Lookup: lookup}
	files, err := home.Files(client)
	if err != nil {
		return List{}, err
	}
	l := List{Client: agent.Named(client), File: files.Servers, Program: program}
	for _, path := range managed { // and the folder beside it
		l.rules = append(l.rules, path, strings.TrimSuffix(path, filepath.Ext(path))+".d/*"+filepath.Ext(path))
	}
	for _, name := range l.Client.Servers.Rules {
		file, err := home.File(l.Client, agent.File{Name: name})
		if err != nil {
			return List{}, err
		}
		l.rules = append(l.rules, file.Path)
	}
	return l, nil
}

// Server is a server that the client starts.
type Server struct {
	Name    string
	Command []string
	Env     map[string]string
	Cwd     string
}

// Servers returns the servers that can be wrapped, in the order of their names, and why the others stay as they are.
func (l List) Servers() (servers []Server, stay map[string]string, err error) {
	text, err := l.File.Read()
	if err != nil {
		return nil, nil, err
	}
	entries, err := l.entries(text)
	if err != nil {
		return nil, nil, err
	}
	named, err := l.namedByCommand()
	if err != nil {
		return nil, nil, err
	}
	stay = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		s := Server{Name: name, Command: commandOf(e), Env: envOf(e)}
		s.Cwd, _ = e["cwd"].(string)
		switch why := named(s.Command); {
		case len(s.Command) == 0:
			stay[name] = "it is reached by its address; its headers and its sign-in are the client's"
		case wrapped(s.Command):
			stay[name] = "it is wrapped already"
		case entry.Entry{Command: s.Command[0], Args: s.Command[1:]}.Ours():
		case e["disabled"] == true, e["enabled"] == false:
			stay[name] = "it is switched off"
		case why != "":
			stay[name] = why
		default:
			servers = append(servers, s)
		}
	}
	return servers, stay, nil
}

// Install wraps servers, by their names.
func (l List) Install(names []string) error {
	_, err := l.File.Install(l.wrap(names), l.onlyTheir(names, func(command []string) []string {
		return slices.Concat([]string{l.Program}, words, command)
	}))
	return err
}

// words stand between this program and a server's command.
var words = []string{"gateway", "--wrap", "--"}

// wrapped reports whether a command starts a server by way of this program.
func wrapped(command []string) bool {
	return len(command) > 0 && entry.Entry{Command: command[0], Args: command[1:]}.Wrapped()
}

// wrap returns an edit that wraps servers.
func (l List) wrap(names []string) func([]byte) ([]byte, error) {
	return func(text []byte) ([]byte, error) {
		before, err := l.entries(text)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if wrapped(commandOf(before[name])) {
				continue // by hand
			}
			place, err := l.find(text, name)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			text = place.wrapped(text, l.Program)
		}
		return text, nil
	}
}

// unwrap takes this program out of every entry.
func (l List) unwrap(text []byte) ([]byte, error) {
	names, err := l.Wrapped(text)
	for _, name := range names {
		place, failed := l.find(text, name)
		if failed != nil {
			return nil, fmt.Errorf("%s: %w", name, failed)
		}
		text = place.unwrapped(text)
	}
	return text, err
}

// Wrapped returns the names of the wrapped servers in a configuration's text.
func (l List) Wrapped(text []byte) (names []string, err error) {
	entries, err := l.entries(text)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if wrapped(commandOf(entries[name])) {
			names = append(names, name)
		}
	}
	return names, err
}

// Uninstall undoes Install, and puts back the servers that an earlier version moved. It returns the names of the servers that
// the client starts itself again, and what the user has to know beside.
func (l List) Uninstall() (names []string, note string, err error) {
	text, err := l.File.Read()
	if err != nil || text == nil {
		return nil, "", err
	}
	if names, err = l.Wrapped(text); err != nil {
		return nil, "", err
	}
	if len(names) > 0 {
		if _, err := l.File.Uninstall(l.wrap(names), l.unwrap); err != nil {
			return nil, "", err
		}
	}
	moved, note, err := l.restore()
	return append(names, moved...), note, err
}

// onlyTheir checks that a change gave servers another command, and did nothing else.
func (l List) onlyTheir(names []string, change func([]string) []string) func(before, after []byte) error {
	return func(before, after []byte) error {
		want, err := l.entries(before)
		got, failed := l.entries(after)
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Equal(change(commandOf(want[name])), commandOf(got[name])) {
				return fmt.Errorf("the change would give %s the wrong command", name)
			}
			for _, field := range []string{"command", "args"} {
				delete(want[name], field)
				delete(got[name], field)
			}
		}
		if !reflect.DeepEqual(want, got) {
			return errors.New("the change would touch more than the servers' commands")
		}
		return nil
	}
}

// entries returns the entries of a configuration's text by their names.
func (l List) entries(text []byte) (map[string]map[string]any, error) {
	data, err := l.File.Syntax.Decode(text)
	if err != nil {
		return nil, err
	}
	all, _ := data.(map[string]any)
	servers, _ := all[l.Client.Servers.Member].(map[string]any)
	entries := map[string]map[string]any{}
	for name, e := range servers {
		entries[name], _ = e.(map[string]any)
	}
	return entries, nil
}

// commandOf returns an entry's command with its arguments; nil: it has none.
func commandOf(e map[string]any) []string {
	var command []string
	for _, part := range []any{e["command"], e["args"]} {
		switch part := part.(type) {
		case string:
			command = append(command, part)
		case []any:
			for _, word := range part {
				command = append(command, fmt.Sprint(word))
			}
		}
	}
	if e["command"] == nil {
		return nil
	}
	return command
}

// envOf returns an entry's variables, which opencode calls its environment.
func envOf(e map[string]any) map[string]string {
	all, _ := e["env"].(map[string]any)
	if len(all) == 0 {
		all, _ = e["environment"].(map[string]any)
	}
	env := map[string]string{}
	for name, value := range all {
		env[name] = fmt.Sprint(value)
	}
	return env
}
