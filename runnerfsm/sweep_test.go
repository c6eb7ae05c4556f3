//go:build linux || darwin

package runnerfsm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// TestSecretsOfRunsThatAreGoneAreSwept proves that a new run removes what killed runs left, and nothing else.
func TestSecretsOfRunsThatAreGoneAreSwept(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	alive, err := NewSecretFolder()
	require.NoError(t, err)
	owner, err := os.ReadFile(filepath.Join(alive.Dir, secretOwnerFile))
	require.NoError(t, err)

	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	make := func(name, owner string) string {
		dir := filepath.Join(tmp, keeper.SecretsPrefix+name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "token"), []byte("secret"), 0o600))
		if owner != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, secretOwnerFile), []byte(owner), 0o600))
		}
		return dir
	}
	gone := make("gone", fmt.Sprintf("%d 12345\n", ended.Process.Pid))
	reused := make("reused", fmt.Sprintf("%d 1\n", os.Getpid())) // another process has the id now
	twin := make("twin", string(owner))
	nameless := make("nameless", "")
	odd := make("odd", "-1 x")
	elsewhere := filepath.Join(t.TempDir(), "of somebody")
	require.NoError(t, os.Rename(make("target", fmt.Sprintf("%d 12345\n", ended.Process.Pid)), elsewhere))
	link := filepath.Join(tmp, keeper.SecretsPrefix+"link")
	require.NoError(t, os.Symlink(elsewhere, link))

	next, err := NewSecretFolder()
	require.NoError(t, err)
	for _, dir := range []string{gone, reused} {
		assert.NoDirExists(t, dir)
	}
	for _, dir := range []string{alive.Dir, twin, nameless, odd, elsewhere, next.Dir} {
		assert.DirExists(t, dir)
	}
	assert.FileExists(t, filepath.Join(link, "token"), "links are left, and what they lead to")
	next.Remove()
	assert.NoDirExists(t, next.Dir)
}
