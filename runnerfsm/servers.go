package runnerfsm

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
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
		return []byte(marshal(stdio(s))), nil
	}
	var headers map[string]string
	if s.Token != "" {
		headers = map[string]string{"Authorization": "Bearer " + s.Token}
	}
	return []byte(marshal(struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers,omitempty"`
	}{"http", s.URL, headers})), nil
}

// JSON returns the entry alone.
func (s Server) JSON() string { return marshal(s) }

// EnvList returns the entry's environment as NAME=VALUE, in a fixed order.
func (s Server) EnvList() []string {
	list := make([]string, 0, len(s.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		list = append(list, name+"="+s.Env[name])
	}
	return list
}

// Servers is the mcpServers record to inject; an empty one injects nothing.
type Servers map[string]Server

// JSON returns the record as {"mcpServers": {...}}, the form of Claude and the Agent SDK.
// Equal records give equal bytes.
func (s Servers) JSON() string {
	return marshal(map[string]Servers{"mcpServers": s})
}

func marshal(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings, slices and maps of strings always encode
	return strings.TrimSuffix(b.String(), "\n")
}

// names lists the servers in a fixed order.
func (s Servers) names() []string { return slices.Sorted(maps.Keys(s)) }

// tomlString returns a TOML basic string. Every JSON escape is valid in TOML; in addition,
// TOML requires DEL to be escaped.
func tomlString(s string) string {
	return strings.ReplaceAll(marshal(s), "\x7f", `\u007f`)
}

func tomlArray(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// loopback lists the hosts that a client must not reach through a proxy.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// pastProxies returns the variables that make a client connect to servers on this machine
// directly: the operator of a proxy could read every command and file.
func (s Servers) pastProxies(env []string) (variables []string) {
	overHTTP := func(name string) bool { return s[name].URL != "" }
	if !slices.ContainsFunc(s.names(), overHTTP) {
		return nil
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		value, set := lookup(env, name)
		if !set { // the other spelling may be set, and this one would override it
			other := map[string]string{"NO_PROXY": "no_proxy", "no_proxy": "NO_PROXY"}[name]
			value, _ = lookup(env, other)
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
