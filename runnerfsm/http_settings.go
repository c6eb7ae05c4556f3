package runnerfsm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The environment of a runner that owns its server, beside the server's own.
const (
	envHTTPEnabled = "JEEVES_MCP_PRUNER_ENABLED"
	envHTTPHost    = "JEEVES_MCP_PRUNER_HOST"
	envHTTPPort    = "JEEVES_MCP_PRUNER_PORT"
	envEndpoint    = "JEEVES_PRUNER_ENDPOINT"
)

// HTTPEnabled says whether a server is to be started. A value that is neither on
// nor off is wrong. Where only the variable of the other transport is set, that
// one decides.
func (s Settings) HTTPEnabled() (bool, error) {
	value := s.Get(envHTTPEnabled)
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true, nil
	case "0", "false", "no", "off":
		return false, nil
	case "":
		return s.Enabled(), nil
	}
	return false, fmt.Errorf("%s=%q: neither 1, true, yes, on nor 0, false, no, off", envHTTPEnabled, value)
}

// httpCommand is the command line of the server. Its port is any free one unless
// one is asked for.
func (s Settings) httpCommand() ([]string, error) {
	path, err := s.serverPath()
	if err != nil && s.Get(envPath) == "" && s.Self != "" {
		path, err = s.Self, nil
	}
	if err != nil {
		return nil, err
	}
	host, port := s.Get(envHTTPHost), s.Get(envHTTPPort)
	if host == "" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "0"
	}
	flags := []string{"--root", s.Root, "--host", host, "--port", port}
	switch {
	case isScript(path):
		return append([]string{"node", path}, flags...), nil
	case s.isOurs(path): // serves streams without a verb
		return append([]string{path, "serve"}, flags...), nil
	}
	return append([]string{path}, flags...), nil
}

// isOurs says whether a server is this program, under whatever name a release or a
// user gave it, and not one that only serves HTTP.
func (s Settings) isOurs(path string) bool {
	if strings.HasPrefix(filepath.Base(path), serverProgram) {
		return true
	}
	server, err := os.Stat(path)
	if err != nil {
		return false
	}
	self, err := os.Stat(s.Self)
	return err == nil && os.SameFile(server, self)
}

// httpEnv is the environment of the server. Output is pruned where a server that a
// client starts would prune it, unless the variable that is the server's own says
// where.
func (s Settings) httpEnv() ([]string, error) {
	env := slices.Clone(s.Env)
	if _, set := lookup(s.Env, envURL); !set || s.Get(envEndpoint) != "" {
		return env, nil
	}
	prunerURL, err := s.prunerURL()
	return append(env, "PRUNER_URL="+prunerURL), err
}
