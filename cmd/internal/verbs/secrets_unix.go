//go:build unix

package verbs

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// ShedSecrets hides this program's settings and the client's session secrets from the commands that it runs, because
// they can read the environment that the kernel shows for their parent processes. Claude gives servers its whole
// environment, including its API key. If the environment cannot be changed in place, the server executes itself
// again, as the same process, without the client's secrets. If that fails, it continues with them.
func ShedSecrets(args, env []string, server bool) {
	config, _, _ := settings.Load(settings.Stdio, nil, settings.FromEnv(env)) // a bad setting is reported by the server
	passed := func(name string) bool { return slices.Contains(config.PassEnv, name) }
	hidden := tools.Hidden(env)
	if hideEntries(func(name string) bool { return hidden(name) && !passed(name) }) == nil || !server {
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
