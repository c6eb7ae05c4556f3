// Package inject knows what a run injects into a client: the entry of the server and its settings, from the environment.
package inject

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// The runner's environment.
const (
	envEnabled = "JEEVES_PRUNER_ENABLED"
	envURL     = "JEEVES_PRUNER_URL"
	envPath    = "JEEVES_MCP_PRUNER_PATH"

	envServerURL = "PRUNER_URL" // the server's own name for envURL
)

const (
	defaultPrunerURL = "http://localhost:8000/prune"
	embeddedPruner   = "embedded" // PRUNER_URL of the pruner inside the server
	serverProgram    = "mcp-pruner"
)

// serverSettings are the prefixes of the variables that configure the server. A client that
// clears the environment is told to pass them on.
var serverSettings = []string{"PRUNER_", "MCP_PRUNER_", "DEEPINFRA_"}

// Settings holds the runner's environment, as far as it concerns the server.
type Settings struct {
	Env    []string
	Dir    string // the runner's working directory, the base of relative paths
	Root   string // the client's working directory, which is the server's root
	Beside string // the directory of the runner's own executable
	Self   string // that executable, which can also run as a server
}

// Enabled reports whether to inject the server.
func (s Settings) Enabled() bool {
	switch strings.ToLower(strings.TrimSpace(s.Get(envEnabled))) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// Servers builds the mcpServers record. The error lists every problem with the settings.
func (s Settings) Servers() (Servers, error) {
	prunerURL, urlErr := s.prunerURL()
	path, pathErr := s.serverPath()
	if err := errors.Join(urlErr, pathErr, s.checkTimeout()); err != nil {
		return nil, err
	}
	server := Server{Command: path, Args: []string{}, Env: map[string]string{
		"PRUNER_URL":     prunerURL,
		"MCP_PRUNER_CWD": s.Root,
	}}
	if isScript(path) {
		server.Command, server.Args = "node", []string{path}
	}
	return Servers{ServerName: server}, nil
}

// Passed returns the names of the variables in the environment that are settings of the
// server and not part of its entry.
func (s Settings) Passed() []string {
	var names []string
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		isSetting := slices.ContainsFunc(serverSettings, func(p string) bool { return strings.HasPrefix(name, p) })
		if isSetting && name != "PRUNER_URL" && name != "MCP_PRUNER_CWD" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// prunerURL returns the server's PRUNER_URL: the runner's own variable or, if not set, the
// server's. A variable that is set but empty turns pruning off and is passed on.
func (s Settings) prunerURL() (string, error) {
	name := envURL
	value, set := system.Here(s.Env).Lookup(name)
	if !set {
		name = envServerURL
		value, set = system.Here(s.Env).Lookup(name)
	}
	switch {
	case !set:
		return defaultPrunerURL, nil
	case value == "", value == embeddedPruner:
		return value, nil
	}
	if !isHTTP(value) {
		return "", fmt.Errorf("%s=%q: not an absolute http or https URL, %q or empty", name, withoutPassword(value), embeddedPruner)
	}
	return value, nil
}

// isHTTP reports whether the server accepts a URL. An invalid URL is refused here, since
// the server would refuse to start with it.
func isHTTP(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return false
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	return err == nil && port > 0
}

// mayHoldSecret reports whether a URL has a user or a query, either of which may be secret.
func mayHoldSecret(value string) bool {
	u, err := url.Parse(value)
	return err == nil && (u.User != nil || u.RawQuery != "")
}

// withoutPassword returns a value, URL or not, without the part before its host.
func withoutPassword(value string) string {
	if i := strings.LastIndexByte(value, '@'); i >= 0 {
		return "xxxxx" + value[i:]
	}
	return value
}

// serverPath finds the server: at the configured path, beside the runner, or on PATH.
func (s Settings) serverPath() (string, error) {
	if path := s.Get(envPath); path != "" {
		return s.givenPath(path)
	}
	if beside := system.Here(s.Env).In(s.Beside, serverProgram); s.Beside != "" && beside != "" {
		return beside, nil
	}
	if path := system.Here(s.Env).LookPath(serverProgram); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("%s is not set, and %s is neither beside the runner (%s) nor on PATH", envPath, serverProgram, s.Beside)
}

func (s Settings) givenPath(given string) (string, error) {
	path := given
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s=%q: %w", envPath, given, errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s=%q: not a file", envPath, given)
	case !isScript(path) && !system.Here(s.Env).Executable(path):
		return "", fmt.Errorf("%s=%q: neither executable nor a .js, .mjs or .cjs file", envPath, given)
	}
	return path, nil
}

// checkTimeout refuses a value out of range of the one server setting for which the design
// gives a range, since the server would refuse to start with it.
func (s Settings) checkTimeout() error {
	value := s.Get("PRUNER_TIMEOUT_MS")
	if value == "" {
		return nil
	}
	if n, err := strconv.Atoi(value); err != nil || n < 100 || n > 300000 {
		return fmt.Errorf("PRUNER_TIMEOUT_MS=%q: not an integer from 100 to 300000", value)
	}
	return nil
}

// Get returns the value of a variable, "" if it is not set.
func (s Settings) Get(name string) string { return system.Here(s.Env).Get(name) }

// Home returns the user's home folder, "" if it is not known.
func (s Settings) Home() string { return system.Here(s.Env).Home() }

// Managed returns the paths of an administrator's settings of a client, whether they exist or not.
func (s Settings) Managed(c *agent.Client) []string {
	if c.Files.Managed == nil {
		return nil
	}
	return c.Files.Managed(runtime.GOOS, s.Get)
}

func isScript(path string) bool {
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, filepath.Ext(path))
}

// OffCommandLines moves a URL that may hold a password from the servers' entries, which are arguments, to the client's
// environment, from which the server gets it. It returns the settings with that environment, and the variables moved.
func (s Settings) OffCommandLines(servers Servers) (moved Settings, variables []string) {
	prunerURL := servers[ServerName].Env[envServerURL]
	if !mayHoldSecret(prunerURL) {
		return s, nil
	}
	delete(servers[ServerName].Env, envServerURL)
	s.Env = append(slices.Clone(s.Env), envServerURL+"="+prunerURL)
	return s, []string{envServerURL}
}
