package settings

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// HTTP is the settings of the server over HTTP.
type HTTP struct {
	Settings
	Host          string // a loopback address
	Port          int    // 0: any free one
	MaxPruneBytes int    // larger output is not sent to a pruner
}

// httpDefinition is a setting that the HTTP design names, or that has another
// default there.
type httpDefinition struct {
	name     string
	flag     string // "" when there is none
	shared   string // the name the rest of the server has for it; "" when only HTTP has it
	fallback string
	code     string // the design's name for a bad value
	allowed  string
	ok       func(string) bool
}

func httpDefinitions() []httpDefinition {
	return []httpDefinition{
		{"JEEVES_MCP_PRUNER_HOST", "host", "", "127.0.0.1",
			"invalid_host", "a loopback address, 127.0.0.1 or ::1", isLoopbackIP},
		{"JEEVES_MCP_PRUNER_PORT", "port", "", "0",
			"invalid_port", "an integer from 0 to 65535", inRange(0, 65535)},
		{"JEEVES_MCP_PRUNER_ROOT_DIR", "root", "MCP_PRUNER_CWD", ".",
			"invalid_root_dir", "an existing directory",
			func(v string) bool { return takeRoot(new(Settings), v) }},
		{"JEEVES_PRUNER_ENDPOINT", "", "PRUNER_URL", "",
			"invalid_pruner_endpoint", `an http or https URL, or "embedded"`,
			func(v string) bool { return takePrunerURL(new(Settings), v) }},
		{"JEEVES_PRUNER_TIMEOUT_MS", "", "PRUNER_TIMEOUT_MS", "2000",
			"invalid_timeout_ms", "an integer from 100 to 30000", inRange(100, 30000)},
		{"JEEVES_MCP_PRUNER_MAX_PRUNE_INPUT_BYTES", "", "", "262144",
			"invalid_max_prune_input_bytes", "an integer from 1024 to 2097152", inRange(1024, 2<<20)},
		{"MCP_PRUNER_MAX_CALLS", "", "MCP_PRUNER_MAX_CALLS", "256",
			"invalid_max_calls", "an integer from 16 to 4096", inRange(16, 4096)},
	}
}

// LoadHTTP reads and checks the settings of the server over HTTP. A flag wins over
// its JEEVES_ variable, that over the variable both transports have, and that over
// the default. An empty variable counts as unset. Flags are given by name.
func LoadHTTP(flags map[string]string, lookup Lookup) (HTTP, []Entry, error) {
	var entries []Entry
	var problems []error
	own, shared := make(map[string]string), make(map[string]string)
	for _, d := range httpDefinitions() {
		e, spelled := d.entry(flags, lookup)
		if e == nil {
			continue
		}
		if e.Source != "default" && !d.ok(e.Value) {
			problems = append(problems, fmt.Errorf("%s: %s=%q: want %s", d.code, spelled, Shown(e.Value), d.allowed))
			e.Value = d.fallback
		}
		own[d.name], shared[d.shared] = e.Value, e.Value
		e.Value = Shown(e.Value)
		entries = append(entries, *e)
	}
	common, others, err := Load(overlay(shared, lookup))
	if err != nil {
		problems = append(problems, err)
	}
	for _, e := range others {
		if _, taken := shared[e.Name]; !taken {
			entries = append(entries, e)
		}
	}
	s := HTTP{Settings: common, Host: own["JEEVES_MCP_PRUNER_HOST"]}
	s.Port, _ = strconv.Atoi(own["JEEVES_MCP_PRUNER_PORT"]) // checked
	s.MaxPruneBytes, _ = strconv.Atoi(own["JEEVES_MCP_PRUNER_MAX_PRUNE_INPUT_BYTES"])
	return s, entries, errors.Join(problems...)
}

// entry finds a setting's value and how it was spelled. It is nil where only the
// shared name is set: then the rules of that one hold.
func (d httpDefinition) entry(flags map[string]string, lookup Lookup) (e *Entry, spelled string) {
	if v, given := flags[d.flag]; given {
		return &Entry{d.name, v, "flag"}, "--" + d.flag
	}
	if v, _ := lookup(d.name); v != "" {
		return &Entry{d.name, v, "environment"}, d.name
	}
	if v, _ := lookup(d.shared); v != "" {
		return nil, ""
	}
	return &Entry{d.name, d.fallback, "default"}, d.name
}

// overlay puts values in front of a lookup.
func overlay(values map[string]string, lookup Lookup) Lookup {
	return func(name string) (string, bool) {
		if v, ok := values[name]; ok {
			return v, true
		}
		return lookup(name)
	}
}

func isLoopbackIP(v string) bool {
	ip := net.ParseIP(v)
	return ip != nil && ip.IsLoopback()
}

func inRange(least, most int) func(string) bool {
	return func(v string) bool {
		_, ok := integer(v, least, most)
		return ok
	}
}
