package takeover

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Lines that mark the gateway's table in Codex's configuration.
const (
	tomlBegin = "# mcp-pruner gateway init: begin\n"
	tomlEnd   = "# mcp-pruner gateway init: end\n"
)

// codexServer is an entry of Codex.
type codexServer struct {
	Command     string            `toml:"command"`
	Args        []string          `toml:"args"`
	Env         map[string]string `toml:"env"`
	Passed      []string          `toml:"env_vars"`
	Cwd         string            `toml:"cwd"`
	URL         string            `toml:"url"`
	BearerFrom  string            `toml:"bearer_token_env_var"`
	Headers     map[string]string `toml:"http_headers"`
	HeadersFrom map[string]string `toml:"env_http_headers"`
	Enabled     *bool             `toml:"enabled"`
}

// convert returns the entry in the gateway's form. Values that Codex takes from the environment become
// variables.
func (c codexServer) convert() map[string]any {
	out := map[string]any{}
	if c.Enabled != nil && !*c.Enabled {
		out["disabled"] = true
	}
	if c.URL == "" {
		env := map[string]any{}
		for name, value := range c.Env {
			env[name] = value
		}
		for _, name := range c.Passed {
			env[name] = "${" + name + ":-}"
		}
		out["command"], out["args"], out["env"] = c.Command, c.Args, env
		if c.Cwd != "" {
			out["cwd"] = c.Cwd
		}
		return out
	}
	headers := map[string]any{}
	for name, value := range c.Headers {
		headers[name] = value
	}
	for name, variable := range c.HeadersFrom {
		headers[name] = "${" + variable + ":-}"
	}
	if c.BearerFrom != "" {
		headers["Authorization"] = "Bearer ${" + c.BearerFrom + ":-}"
	}
	out["url"], out["headers"] = c.URL, headers
	return out
}

// variables returns the variables that Codex passes to the server, or reads on its behalf.
func (c codexServer) variables() []string {
	names := append(slices.Clone(c.Passed), slices.Collect(maps.Values(c.HeadersFrom))...)
	if c.BearerFrom != "" {
		names = append(names, c.BearerFrom)
	}
	return names
}

// tomlTable matches the header line of a table.
var tomlTable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(#.*)?$`) })

// serverOf returns the server whose table a header starts: mcp_servers.NAME or a table below it, else "".
func serverOf(header string) string {
	var table map[string]map[string]any
	if err := toml.Unmarshal([]byte("["+header+"]"), &table); err != nil {
		return ""
	}
	for name := range table["mcp_servers"] {
		return name
	}
	return ""
}

// movesTOML returns the servers that a gateway can take over. Servers written in another form than tables stay.
func (t Takeover) movesTOML(text []byte) (kept, error) {
	servers, err := codexServers(text)
	if err != nil {
		return kept{}, err
	}
	entries, err := codexEntries(text)
	if err != nil {
		return kept{}, err
	}
	rules, err := t.source().TOML(text)
	if err != nil {
		return kept{}, err
	}
	moved := kept{Servers: map[string]any{}, stay: map[string]string{}}
	cut, _, err := cutTOML(text, func(name string) bool {
		s, ok := servers[name]
		if !ok || s.Command == "" && s.URL == "" || t.own(s.Command) {
			return false
		}
		if why := t.stays(name, entries[name], rules); why != "" {
			moved.stay[name] = why
			return false
		}
		moved.Servers[name] = s.convert()
		return true
	})
	moved.Text = string(cut)
	return moved, err
}

// cutTOML splits a text into the tables of the servers that take chooses, each with the comments directly above it, and
// the rest.
func cutTOML(text []byte, take func(server string) bool) (tables, rest []byte, err error) {
	var cut, stays strings.Builder
	out := &stays // receives the current table
	var above []string
	flush := func() {
		out.WriteString(strings.Join(above, ""))
		above = nil
	}
	for line := range strings.Lines(string(text)) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "#") && line != tomlEnd {
			above = append(above, line)
			continue
		}
		if header := tomlTable().FindStringSubmatch(strings.TrimRight(line, "\r\n")); header != nil {
			out = &stays
			if name := serverOf(header[1]); name != "" && take(name) {
				out = &cut
			}
		}
		flush()
		out.WriteString(line)
	}
	flush()
	all, err := codexEntries(text)
	there, failedCut := codexEntries([]byte(cut.String()))
	left, failedRest := codexEntries([]byte(stays.String()))
	if err != nil || failedCut != nil || failedRest != nil || len(there)+len(left) != len(all) {
		return nil, nil, errors.New("its tables cannot be told apart; move the servers by hand (docs/GATEWAY.md)")
	}
	return []byte(cut.String()), []byte(stays.String()), nil
}

// codexEntries returns the entries with all their fields.
func codexEntries(text []byte) (map[string]map[string]any, error) {
	return serversIn[map[string]any](text)
}

func codexServers(text []byte) (map[string]codexServer, error) { return serversIn[codexServer](text) }

func serversIn[T any](text []byte) (map[string]T, error) {
	var file struct {
		Servers map[string]T `toml:"mcp_servers"`
	}
	if _, err := (setup.Syntax{Client: agent.Codex.Title, Format: agent.TOML}).Decode(text); err != nil { // with the line
		return nil, err
	}
	err := toml.Unmarshal(text, &file)
	return file.Servers, err
}

func (t Takeover) installTOML(text []byte, moved kept) ([]byte, error) {
	_, rest, err := cutTOML(text, func(name string) bool { return moved.Servers[name] != nil })
	switch {
	case err != nil:
		return nil, err
	case bytes.Contains(rest, []byte(tomlBegin)):
		return rest, nil
	}
	if len(rest) > 0 && !bytes.HasSuffix(rest, []byte("\n")) {
		rest = append(rest, '\n')
	}
	table := fmt.Sprintf("[mcp_servers.%s]\ncommand = %s\nargs = [\"gateway\", %s]\nstartup_timeout_sec = 60\n",
		entryName, strconv.Quote(t.Program), strconv.Quote(t.Config))
	if names := variablesOf(moved.Text); len(names) > 0 { // Codex passes no other variables
		table += "env_vars = [" + strings.Join(names, ", ") + "]\n"
	}
	return append(rest, tomlBegin+table+tomlEnd...), nil
}

// variablesOf returns the variables that the servers in a text need, quoted.
func variablesOf(text string) []string {
	servers, _ := codexServers([]byte(text)) // the text was parsed before
	var names []string
	for _, s := range servers {
		for _, name := range s.variables() {
			names = append(names, strconv.Quote(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// restoreTOML replaces the gateway's table by the original tables, in a file that was changed since
// install. A server that has a new table in the file keeps that.
func (t Takeover) restoreTOML(text []byte, k kept) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(tomlBegin))
	if !ok {
		return nil, fmt.Errorf("the line %q is missing", strings.TrimSpace(tomlBegin))
	}
	_, after, ok := bytes.Cut(rest, []byte(tomlEnd))
	if !ok {
		return nil, fmt.Errorf("the line %q is missing", strings.TrimSpace(tomlEnd))
	}
	there, err := codexEntries(slices.Concat(before, after))
	if err != nil {
		return nil, err
	}
	_, back, err := cutTOML([]byte(k.Text), func(name string) bool { return there[name] != nil })
	if err != nil {
		return nil, err
	}
	if len(back) > 0 && !bytes.HasSuffix(back, []byte("\n")) {
		back = append(back, '\n')
	}
	return slices.Concat(before, back, after), nil
}
