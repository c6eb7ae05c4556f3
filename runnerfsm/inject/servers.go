package inject

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// ServerName is the key of our entry in every client's list of servers.
const ServerName = "pruner"

// Server is one entry of the mcpServers record: a stdio server that the client starts, or
// an HTTP server that is already running.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`

	URL   string `json:"-"` // of an HTTP server; the other fields are then empty
	Token string `json:"-"` // required by an HTTP server; never put on a command line
}

// MarshalJSON encodes the entry with its kind.
func (s Server) MarshalJSON() ([]byte, error) {
	if s.URL == "" {
		type stdio Server
		return []byte(JSON(stdio(s))), nil
	}
	var headers map[string]string
	if s.Token != "" {
		headers = map[string]string{"Authorization": "Bearer " + s.Token}
	}
	return []byte(JSON(struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
	}{"http", s.URL, headers})), nil
}

// Servers is the mcpServers record to inject; an empty one injects nothing.
type Servers map[string]Server

// JSON returns the record as {"mcpServers": {...}}, the form of Claude and the Agent SDK.
// Equal records give equal bytes.
func (s Servers) JSON() string {
	return JSON(map[string]Servers{"mcpServers": s})
}

// JSON encodes a value as clients take it: on one line, with every character of HTML as it is.
func JSON(v any) string {
	return string(jsonspan.Encode(v)) // strings, slices and maps of strings always encode
}

// Names lists the servers in a fixed order.
func (s Servers) Names() []string { return slices.Sorted(maps.Keys(s)) }

// loopback lists the hosts that a client must not reach through a proxy.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// PastProxies returns the variables that make a client connect to servers on this machine
// directly: the operator of a proxy could read every command and file.
func (s Servers) PastProxies(env []string) (variables []string) {
	overHTTP := func(name string) bool { return s[name].URL != "" }
	if !slices.ContainsFunc(s.Names(), overHTTP) {
		return nil
	}
	return PastProxies(env)
}

// PastProxies returns the variables that make a client connect to this machine directly, beside the hosts that it is told
// already to reach so.
func PastProxies(env []string) (variables []string) {
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		value, set := system.Here(env).Lookup(name)
		if !set { // the other spelling may be set, and this one would override it
			other := map[string]string{"NO_PROXY": "no_proxy", "no_proxy": "NO_PROXY"}[name]
			value, _ = system.Here(env).Lookup(other)
		}
		hosts := words(value)
		for _, host := range loopback {
			if !slices.Contains(hosts, host) {
				hosts = append(hosts, host)
			}
		}
		variables = append(variables, name+"="+strings.Join(hosts, ","))
	}
	return variables
}
