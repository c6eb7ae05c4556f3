//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPackages: what "make dist" packs is installed into a fresh home, without Go on
// PATH, and used by the real client: by npm, and from the archive.
func TestPackages(t *testing.T) {
	if missing != nil {
		t.Skip("the clients are not installed: see the top")
	}
	dist := built(t)
	packed := func(pattern string) string {
		found, err := filepath.Glob(filepath.Join(dist, pattern))
		require.NoError(t, err)
		require.Len(t, found, 1, pattern)
		return found[0]
	}
	t.Run("npm", func(t *testing.T) {
		defer timed(t, "from the packed files to a pruned answer in Claude Code")()
		w := limitsWorld(t)
		node, npm := lookUp(t, "node"), lookUp(t, "npm")
		w.env = append(w.env, "PATH="+filepath.Join(filepath.Dir(w.dir), "bin")+":"+filepath.Dir(node)+":"+filepath.Dir(npm)+":/usr/bin:/bin")
		install := exec.Command(npm, "install", "--global", "--offline", "--ignore-scripts", "--no-audit", "--no-fund",
			"--prefix", filepath.Join(w.home, "npm"), packed("mcp-pruner-[0-9]*.tgz"), packed("mcp-pruner-linux-x64-*.tgz"))
		install.Dir, install.Env = w.home, w.env
		out, err := install.CombinedOutput()
		require.NoError(t, err, "%s", out)
		w.usesServer(`{"mcpServers":{"pruner":{"command":"npx","args":["--offline","--no","mcp-pruner"],"env":{"PRUNER_URL":"embedded"}}}}`,
			"npm_config_prefix="+filepath.Join(w.home, "npm"))
	})
	t.Run("archive", func(t *testing.T) {
		defer timed(t, "from the archive to a pruned answer in Claude Code")()
		w := limitsWorld(t)
		unpack := exec.Command("tar", "-xzf", packed("mcp-pruner_*_linux_amd64.tar.gz"), "--strip-components=1", "-C", w.home)
		out, err := unpack.CombinedOutput()
		require.NoError(t, err, "%s", out)
		w.usesServer(`{"mcpServers":{"pruner":{"command":"` + filepath.Join(w.home, "mcp-pruner") + `","env":{"PRUNER_URL":"embedded"}}}}`)
		version, err := exec.Command(filepath.Join(w.home, "mcp-pruner"), "version").Output()
		require.NoError(t, err)
		assert.Regexp(t, `^mcp-pruner \S+\+[0-9a-f]{12} \(\d{4}-\d\d-\d\d\)\n$`, string(version))
		assert.Error(t, exec.Command(filepath.Join(w.home, "jeeves-mcp-pruner"), "--no-such-flag").Run())
	})
	t.Run("bundle", func(t *testing.T) { validatesBundle(t, packed("mcp-pruner_*_linux_amd64.mcpb")) })
	t.Run("sbom", func(t *testing.T) {
		validatesSBOM(t, packed("mcp-pruner_*.cdx.json"), filepath.Join(dist, "bin/linux_amd64/mcp-pruner"))
	})
	t.Run("checksums", func(t *testing.T) {
		check := exec.Command("sha256sum", "--check", "--strict", "--quiet", "checksums.txt")
		check.Dir = dist
		out, err := check.CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	t.Run("again", func(t *testing.T) {
		var sums [2]string
		for i, dir := range []string{dist, built(t)} {
			text, err := os.ReadFile(filepath.Join(dir, "checksums.txt"))
			require.NoError(t, err)
			sums[i] = string(text)
		}
		assert.Equal(t, sums[0], sums[1], "the same commit gives the same bytes")
		assert.GreaterOrEqual(t, strings.Count(sums[0], "\n"), 5)
	})
}

// built is everything that "make dist" makes for one system.
func built(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	require.NoError(t, command(10*time.Minute, top, "make", "dist", "DIST="+dist, "SYSTEMS=linux/amd64"))
	return dist
}

// timed says how long something took.
func timed(t *testing.T, what string) func() {
	start := time.Now()
	return func() { t.Logf("%s: %.1f s", what, time.Since(start).Seconds()) }
}

// limitsWorld is a world whose file the server itself can prune to the question.
func limitsWorld(t *testing.T) *world {
	w := newWorld(t, both()[0], call("read", map[string]any{"file_path": "limits.go", "context_focus_question": "what is the retry limit?"}), done)
	w.write(filepath.Join(w.dir, "limits.go"), limitsText(), 0o644)
	return w
}

func limitsText() string {
	var b strings.Builder
	b.WriteString("package limits\n\n")
	for n := range 300 {
		if n == 150 {
			b.WriteString("// retryLimit is how often a request is sent again.\nconst retryLimit = 3\n\n")
		}
		fmt.Fprintf(&b, "// area%d returns the area of a field of that width.\nfunc area%d(width int) int {\n\treturn width * %d\n}\n\n", n, n, n)
	}
	return b.String()
}

// usesServer runs the client itself with a configuration, and sees the model get a
// pruned answer.
func (w *world) usesServer(config string, env ...string) {
	w.t.Helper()
	path := filepath.Join(w.home, "mcp.json")
	w.write(path, config, 0o600)
	run := exec.Command(installed(w.client.program), append([]string{"-p", "how often is it tried?", "--mcp-config=" + path,
		"--allowedTools=mcp__pruner__read"}, w.client.options...)...)
	run.Dir, run.Env = w.dir, append(append([]string{}, w.env...), env...)
	out, err := run.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
	require.Len(w.t, w.results(), 1)
	assert.Contains(w.t, w.results()[0].text, "const retryLimit = 3")
	assert.Less(w.t, len(w.results()[0].text), len(limitsText())/2, "it was pruned")
	assert.Empty(w.t, w.left())
}

func lookUp(t *testing.T, program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not there", program)
	}
	resolved, err := filepath.EvalSymlinks(filepath.Dir(path))
	require.NoError(t, err)
	return filepath.Join(resolved, filepath.Base(path))
}
