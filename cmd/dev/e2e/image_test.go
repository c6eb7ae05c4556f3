//go:build e2e

package e2e

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	imageCommit = "0123456789abcdef0123456789abcdef01234567"
	imageDate   = "2026-01-02"
)

// TestImage builds the Dockerfile with buildah, which needs no daemon, and runs the image with
// crun. Both base images are made here, under their names and with what the Dockerfile uses
// of them, because a test has no image registry.
func TestImage(t *testing.T) {
	b := newBuilder(t)
	b.bases()
	start := timed(t, "the image")
	b.build("--tag", "mcp-pruner", "--build-arg", "COMMIT="+imageCommit, "--build-arg", "DATE="+imageDate, top)
	start()
	t.Run("configuration", b.isConfigured)
	c := b.container("mcp-pruner")
	t.Run("files", c.hasProgramOnly)
	t.Run("version", func(t *testing.T) {
		version, err := c.command(t, options{args: []string{"version"}}).Output()
		require.NoError(t, err)
		assert.Regexp(t, `^mcp-pruner \S+\+0123456789ab \(2026-01-02\)\n$`, string(version))
	})
	t.Run("stdio", func(t *testing.T) { c.speaks(t) })
	t.Run("doctor", func(t *testing.T) {
		report, err := c.command(t, options{args: []string{"doctor"}}).Output()
		assert.NoError(t, err, "%s", report)
	})
	for _, verb := range [][]string{{"serve"}, {"pruner"}, {"gateway", "--http", "servers.json"}} {
		t.Run(verb[0], func(t *testing.T) { c.isHealthy(t, verb...) })
	}
	for _, user := range []int{65532, 1000} {
		t.Run(fmt.Sprintf("tools as %d", user), func(t *testing.T) { c.answers(t, user) })
	}
	t.Run("arm64", b.crosses)
}

// isConfigured compares the image's configuration with the Dockerfile.
func (b *builder) isConfigured(t *testing.T) {
	config := b.configuration(t)
	assert.Equal(t, "65532:65532", config.User, "a number, so that Kubernetes can see that it is not root")
	assert.Equal(t, []string{"/usr/local/bin/mcp-pruner"}, config.Entrypoint)
	assert.Equal(t, []string{"serve"}, config.Cmd)
	assert.Equal(t, "/work", config.WorkingDir)
	assert.Equal(t, map[string]any{"8005/tcp": map[string]any{}}, config.ExposedPorts)
	assert.Equal(t, []string{"CMD", "/usr/local/bin/mcp-pruner", "doctor", "--port", "0"}, config.Healthcheck.Test)
	assert.Subset(t, config.Env, []string{"PRUNER_URL=embedded", "MCP_PRUNER_TOOLS=read,grep", "JEEVES_MCP_PRUNER_PORT=8005", "MCP_PRUNER_PORT=8005"})
	for _, variable := range config.Env {
		assert.NotRegexp(t, "^(GO|CGO)", variable, "nothing of the build is left")
	}
}

// hasProgramOnly: beside the base image's files there is one program, and no shell.
func (c *container) hasProgramOnly(t *testing.T) {
	var programs []string
	require.NoError(t, filepath.WalkDir(c.root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			if info, _ := entry.Info(); info.Mode()&0o111 != 0 {
				programs = append(programs, strings.TrimPrefix(path, c.root))
			}
		}
		return err
	}))
	assert.Equal(t, []string{"/usr/local/bin/mcp-pruner"}, programs)
	info, err := os.Stat(filepath.Join(c.root, "/usr/local/bin/mcp-pruner"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	for name, says := range map[string]string{"LICENSE": "Apache License", "THIRD_PARTY_LICENSES.txt": "github.com/mark3labs/mcp-go"} {
		text, err := os.ReadFile(filepath.Join(c.root, "usr/share/doc/mcp-pruner", name))
		require.NoError(t, err)
		assert.Contains(t, string(text), says)
	}
	t.Logf("the program has %.1f MB", float64(info.Size())/1e6)
	assert.Less(t, info.Size(), int64(40<<20))
}

// speaks: without a verb, as with docker run --entrypoint, it is a server for one client.
func (c *container) speaks(t *testing.T) {
	server := c.command(t, options{})
	server.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":` +
		`{"file_path":"limits.go","context_focus_question":"what is the retry limit?"}}}` + "\n")
	out, err := server.Output()
	require.NoError(t, err)
	assert.Contains(t, string(out), "const retryLimit = 3")
}

// isHealthy starts a verb as the image is, with the ports of its own network, a root that is
// read-only and no configuration, and asks for its health.
func (c *container) isHealthy(t *testing.T, verb ...string) {
	run := c.start(t, options{args: verb, network: true})
	assert.NoError(t, run.inside("health"))
	assert.Error(t, run.inside("health", "--port", "8006"), "nothing serves there")
	run.ends()
	assert.Error(t, c.command(t, options{args: []string{"health"}, network: true}).Run(), "nothing runs")
}

// answers: an agent on the same machine lists the tools and gets pruned answers, whoever the
// container's user is.
func (c *container) answers(t *testing.T, user int) {
	port := freePort(t)
	run := c.start(t, options{args: []string{"serve"}, user: user,
		env: []string{fmt.Sprintf("JEEVES_MCP_PRUNER_PORT=%d", port), fmt.Sprintf("MCP_PRUNER_PORT=%d", port)}})
	assert.NoError(t, run.inside("health"))
	ask := func(method, params string) string { return posted(t, port, method, params) }
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(ask("tools/list", `{}`)), &list))
	var names []string
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	assert.Equal(t, []string{"read", "grep"}, names)

	read := ask("tools/call", `{"name":"read","arguments":{"file_path":"limits.go","context_focus_question":"what is the retry limit?"}}`)
	assert.Contains(t, read, "const retryLimit = 3")
	assert.Contains(t, read, `"applied":true`)
	found := ask("tools/call", `{"name":"grep","arguments":{"pattern":"(const|func) \\w+","context_focus_question":"what is the retry limit?"}}`)
	assert.Contains(t, found, "const retryLimit = 3")
	assert.Contains(t, found, `"applied":true`)
	assert.Less(t, len(found), len(limitsText())/2, "it was pruned")
	run.ends()
}

// crosses: the program is built for the image's processor by the machine's own Go.
func (b *builder) crosses(t *testing.T) {
	other, machine := "arm64", elf.EM_AARCH64
	if runtime.GOARCH == other {
		other, machine = "amd64", elf.EM_X86_64
	}
	defer timed(t, "the image for "+other)()
	// buildah 1.28 takes the target's platform for the one on which it builds.
	b.build("--tag", "other", "--platform", "linux/"+other, "--build-arg", "BUILDPLATFORM=linux/"+runtime.GOARCH, top)
	program, err := elf.Open(filepath.Join(b.container("other").root, "usr/local/bin/mcp-pruner"))
	require.NoError(t, err)
	defer program.Close()
	assert.Equal(t, machine, program.Machine)
	assert.Equal(t, other, b.inspected(t, "other").Docker.Architecture)
}

// ends stops the server as a container engine does, and reads its log.
func (r *running) ends() {
	r.t.Helper()
	require.NoError(r.t, r.c.crun("kill", id(r.t), "TERM").Run())
	<-r.drained
	assert.NoError(r.t, r.cmd.Wait(), "SIGTERM is an end like any other")
	for line := range bytes.Lines(r.log.Bytes()) {
		assert.True(r.t, json.Valid(line), string(line))
	}
	assert.Contains(r.t, r.log.String(), `"event":"mcp_pruner.stopped","data":{"graceful":true`)
}
