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

// Server is one entry of the mcpServers record: a stdio server that the client
// starts, or one over HTTP that is there already.
type Server struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`

	URL   string `json:"-"` // over HTTP; the rest is empty then
	Token string `json:"-"` // that a server over HTTP asks for; never on a command line
}

// MarshalJSON writes the kind of entry it is.
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

// JSON is the entry by itself.
func (s Server) JSON() string { return marshal(s) }

// EnvList is the entry's environment as NAME=VALUE, in a fixed order.
func (s Server) EnvList() []string {
	list := make([]string, 0, len(s.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		list = append(list, name+"="+s.Env[name])
	}
	return list
}

// Servers is the mcpServers record that is injected; empty injects nothing.
type Servers map[string]Server

// JSON is the record as {"mcpServers": {...}}, as Claude and the Agent SDK take
// it. The same record is always the same bytes.
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

// tomlString is a TOML basic string. JSON's escapes are all TOML's; what TOML
// wants escaped besides is DEL.
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

// loopback are the hosts that a client must not ask through a proxy.
var loopback = []string{"127.0.0.1", "localhost", "::1"}

// pastProxies are the variables that make a client reach servers on this machine
// itself: whoever runs the proxy would read every command and file.
func (s Servers) pastProxies(env []string) (variables []string) {
	overHTTP := func(name string) bool { return s[name].URL != "" }
	if !slices.ContainsFunc(s.names(), overHTTP) {
		return nil
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		value, set := lookup(env, name)
		if !set { // the other spelling may be set, and then this one would hide it
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
