//go:build unix

package cli

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/tools"
)

// ShedSecrets hides this program's settings and the client's session secrets from what
// it runs: commands can read the environment that the kernel shows of the processes
// above them. Claude gives servers all of its environment, its API key included. Where
// the environment cannot be changed in place, a server is started anew, as the same
// process, without the client's secrets, and goes on with what it has if that fails.
func ShedSecrets(args, env []string, server bool) {
	config, _, _ := settings.Load(settings.Stdio, nil, settings.FromEnv(env)) // a bad setting is reported by the server
	passed := func(name string) bool { return slices.Contains(config.PassEnv, name) }
	if hideEntries(func(name string) bool { return tools.Secret(name) && !passed(name) }) == nil || !server {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return tools.ClientSecret(name) && !passed(name)
	})
	if len(kept) == len(env) {
		return
	}
	if self, err := os.Executable(); err == nil {
		_ = syscall.Exec(self, args, kept)
	}
}
