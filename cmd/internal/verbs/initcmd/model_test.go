//go:build unix

package initcmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
)

// TestInitFitsTheModel: without a flag init codex sets up what works with the model that Codex uses, says why, and takes it out again.
func TestInitFitsTheModel(t *testing.T) {
	const models = `echo '{"models":[{"slug":"gpt-5.5","visibility":"list","priority":2},{"slug":"gpt-6","visibility":"list","priority":1,"tool_mode":"code_mode_only"}]}'`
	for name, c := range map[string]struct{ config, codex, says, shows string }{
		"code": {"# mine\n", models, "Codex's model gpt-6 (the default) calls tools from code, where a hook can replace nothing: the proxy",
			"hooks not, proxy, start"},
		"direct":   {"model = \"gpt-5.5\"\n", models, "Codex's model gpt-5.5 calls its tools itself: hooks, and the proxy", "hooks, proxy, start"},
		"provider": {"model = \"mine\"\nmodel_provider = \"corp\"\n", models, "Codex's model mine calls its tools itself: hooks. No proxy: model_provider is \"corp\"", "hooks, proxy not, start not"},
		"silent":   {"", "exit 1", "Which model Codex uses is not known (codex does not list its models: exit status 1). Hooks do nothing", "hooks, proxy not, start not"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "bin", "codex"), "#!/bin/sh\n"+c.codex+"\n")
			require.NoError(t, os.Chmod(filepath.Join(dir, "bin", "codex"), 0o700))
			write(t, filepath.Join(dir, ".codex", "config.toml"), c.config)
			before := filesBelow(t, dir)
			run := func(args ...string) string {
				var out, errs bytes.Buffer
				p := command.Process{Args: append([]string{"codex"}, args...), Env: []string{"HOME=" + dir, "PATH=" + filepath.Join(dir, "bin")}, Stdout: &out, Stderr: &errs}
				require.Zero(t, command.Verb(context.Background(), Command(p, nil), p), errs.String())
				return out.String()
			}
			said := run()
			assert.Contains(t, said, c.says)
			assert.Equal(t, name == "code" || name == "direct", strings.Contains(said, "from now on, with Codex once the proxy runs: mcp-pruner proxy --ensure --port 8787"), said)
			shown := run("--show")
			for _, kind := range []string{"hooks", "proxy", "start"} {
				want := ` +installed`
				if bytes.Contains([]byte(c.shows), []byte(kind+" not")) {
					want = ` +not installed`
				}
				assert.Regexp(t, kind+want, shown)
			}
			assert.Equal(t, name == "code", strings.Contains(run("--hooks"), "gpt-6 (the default) calls tools from code, where a hook can replace nothing: these hooks work with"))
			run("--uninstall")
			assert.Equal(t, before, filesBelow(t, dir))
		})
	}
}
