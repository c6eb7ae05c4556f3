package provider

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
)

const (
	// codexStartTimeout is how long Codex waits for the server by default: a server that
	// hangs delays the run by this time.
	codexStartTimeout = 10 * time.Second
	// codexToolTimeout exceeds the server's own limits (300 s for a command and 300 s for
	// the pruner), so that a timeout is reported by the server.
	codexToolTimeout = 660 * time.Second
)

// CodexConfig returns the servers as --config arguments, which Codex merges into an entry
// of the same name in its own configuration: values that must not be inherited are set even
// if empty. A server that Codex starts is marked as required, because only then does Codex
// report whether it connected. Only its tools are approved.
func CodexConfig(l Launch) []string {
	var settings []string
	for _, name := range l.Servers.Names() {
		server, key := l.Servers[name], codexServers+"."+name+"."
		if server.URL != "" {
			settings = append(settings, key+"url="+tomlString(server.URL))
			if server.Token != "" {
				settings = append(settings, key+"bearer_token_env_var="+tomlString(tokenVariable))
			}
		} else {
			settings = append(settings, codexCommand(key, server, l.Passed)...)
		}
		settings = append(settings,
			key+"required=true",
			key+"enabled=true",
			key+"enabled_tools="+tomlArray(l.Tools),
			key+"startup_timeout_sec="+seconds(l.StartTimeout, codexStartTimeout),
			key+"tool_timeout_sec="+seconds(0, codexToolTimeout),
			key+`default_tools_approval_mode="approve"`)
	}
	return settings
}

const codexServers = "mcp_servers"

// codexCommand returns the settings of a server that Codex starts.
func codexCommand(key string, server inject.Server, passed []string) []string {
	settings := []string{key + "command=" + tomlString(server.Command), key + "args=" + tomlArray(server.Args)}
	for _, k := range slices.Sorted(maps.Keys(server.Env)) {
		settings = append(settings, key+"env."+k+"="+tomlString(server.Env[k]))
	}
	if len(passed) > 0 {
		settings = append(settings, key+"env_vars="+tomlArray(passed))
	}
	return settings
}

func seconds(d, otherwise time.Duration) string {
	return strconv.FormatFloat(cmp.Or(d, otherwise).Seconds(), 'f', -1, 64)
}

// codexNames are the names of the option that sets configuration.
var codexNames = []string{"--config", "-c"}

// codexSilent reports whether, because of the user's own options, Codex would not report a
// missing server: the server is disabled or not required.
func codexSilent(options []string) bool {
	values, _ := cutOption(options, codexNames...)
	silent := make(map[string]bool)
	for _, value := range values {
		for _, key := range []string{"enabled", "required"} {
			if set, found := codexSetting(value, codexServers, inject.ServerName, key); found {
				silent[key] = set == false
			}
		}
	}
	return silent["enabled"] || silent["required"]
}

// codexSetting returns the value that "key.key=VALUE" sets at a path, parsed as Codex does:
// names are split at every dot, and the value is TOML, possibly a table.
func codexSetting(setting string, path ...string) (value any, found bool) {
	name, text, _ := strings.Cut(setting, "=")
	for _, key := range strings.Split(strings.TrimSpace(name), ".") {
		if len(path) == 0 || key != path[0] {
			return nil, false
		}
		path = path[1:]
	}
	var read struct{ X any }
	if err := toml.Unmarshal([]byte("x = "+text), &read); err != nil {
		read.X = text
	}
	value = read.X
	for _, key := range path {
		table, _ := value.(map[string]any)
		if value, found = table[key]; !found {
			return nil, false
		}
	}
	return value, true
}

// codexWithout removes the options for a server that is not injected: they alone are not a
// valid entry, and Codex would refuse to start.
func codexWithout(options []string, server string) []string {
	var rest []string
	for i := 0; i < len(options); i++ {
		value, attached, found := match(options[i], codexNames)
		length := 1
		if found && !attached && i+1 < len(options) {
			value, length = options[i+1], 2
		}
		if !found || !strings.HasPrefix(strings.TrimSpace(value), codexServers+"."+server+".") {
			rest = append(rest, options[i:i+length]...)
		}
		i += length - 1
	}
	return rest
}

// tomlString returns a TOML basic string. Every JSON escape is valid in TOML; in addition,
// TOML requires DEL to be escaped.
func tomlString(s string) string {
	return strings.ReplaceAll(inject.JSON(s), "\x7f", `\u007f`)
}

func tomlArray(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = tomlString(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
