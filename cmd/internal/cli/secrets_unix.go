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

// ShedSecrets starts this program anew, as the same process, without the client's
// session secrets. Claude gives servers all of its environment, its API key
// included; unsetting variables would leave what the kernel shows of a process
// (/proc/PID/environ), to the commands the server runs as well, as it is. Where
// the program cannot be started again it goes on with what it has.
func ShedSecrets(args, env []string) {
	config, _, _ := settings.Load(settings.Stdio, nil, settings.FromEnv(env)) // a bad setting is reported by the server
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return tools.ClientSecret(name) && !slices.Contains(config.PassEnv, name)
	})
	if len(kept) == len(env) {
		return
	}
	if self, err := os.Executable(); err == nil {
		_ = syscall.Exec(self, args, kept)
	}
}
