package inject

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
)

// Environment variables of a runner that owns its server, in addition to the server's own.
const (
	envHTTPEnabled = "JEEVES_MCP_PRUNER_ENABLED"
	envHTTPHost    = "JEEVES_MCP_PRUNER_HOST"
	envHTTPPort    = "JEEVES_MCP_PRUNER_PORT"
	envEndpoint    = "JEEVES_PRUNER_ENDPOINT"
)

// HTTPEnabled reports whether to start a server. A value that is neither on nor off is an
// error. If only the variable of the other transport is set, that one decides.
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

// HTTPCommand returns the command line of the server. It listens on any free port unless a
// port is set.
func (s Settings) HTTPCommand() ([]string, error) {
	path, err := s.serverPath()
	if err != nil && s.Get(envPath) == "" && s.Self != "" {
		path, err = s.Self, nil
	}
	if err != nil {
		return nil, err
	}
	flags := []string{"--root", s.Root, "--host", cmp.Or(s.Get(envHTTPHost), "127.0.0.1"), "--port", cmp.Or(s.Get(envHTTPPort), "0")}
	switch {
	case isScript(path):
		return append([]string{"node", path}, flags...), nil
	case s.isOurs(path): // without a verb it is a stdio server
		return append([]string{path, "serve"}, flags...), nil
	}
	return append([]string{path}, flags...), nil
}

// isOurs reports whether a server is this program, under any name given by a release or a
// user, and not a program that serves HTTP only.
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

// HTTPEnv returns the environment of the server. It prunes in the same cases as a server
// started by a client, unless the server's own variable is set.
func (s Settings) HTTPEnv() ([]string, error) {
	env := slices.Clone(s.Env)
	if _, set := system.Here(s.Env).Lookup(envURL); !set || s.Get(envEndpoint) != "" {
		return env, nil
	}
	prunerURL, err := s.prunerURL()
	return append(env, "PRUNER_URL="+prunerURL), err
}
