//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// container is what crun runs: an image's files and configuration, and a project at /work.
type container struct {
	root, work, state string
	config            configuration
}

func (b *builder) container(image string) *container {
	b.t.Helper()
	name := strings.TrimSpace(string(b.buildah("from", "--pull-never", image)))
	c := &container{work: b.t.TempDir(), state: b.t.TempDir(), config: b.inspected(b.t, image).Docker.Config}
	c.root = strings.TrimSpace(string(b.buildah("mount", name)))
	for name, text := range map[string]string{
		"limits.go":    limitsText(),
		"servers.json": `{"mcpServers":{"files":{"command":"/usr/local/bin/mcp-pruner"}}}`,
	} {
		require.NoError(b.t, os.WriteFile(filepath.Join(c.work, name), []byte(text), 0o644))
	}
	return c
}

// options say how a container is run where the image leaves that open.
type options struct {
	args, env []string
	user      int  // 0: the image's
	network   bool // one of its own
}

// command runs the image's program in a container whose root cannot be written.
func (c *container) command(t *testing.T, o options) *exec.Cmd {
	t.Helper()
	var uid, gid int
	_, err := fmt.Sscanf(c.config.User, "%d:%d", &uid, &gid)
	require.NoError(t, err)
	if o.user != 0 {
		uid, gid = o.user, o.user
	}
	type object = map[string]any
	namespaces := []object{{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}}
	if o.network {
		namespaces = append(namespaces, object{"type": "network"})
	}
	spec, err := json.Marshal(object{
		"ociVersion": "1.0.0",
		"process": object{
			"user": object{"uid": uid, "gid": gid}, "args": append(c.config.Entrypoint, o.args...),
			"env": append(c.config.Env, o.env...), "cwd": c.config.WorkingDir, "noNewPrivileges": true,
		},
		"root": object{"path": c.root, "readonly": true},
		"mounts": []object{
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
			{"destination": "/work", "type": "bind", "source": c.work, "options": []string{"bind", "ro"}},
		},
		"linux": object{"namespaces": namespaces},
	})
	require.NoError(t, err)
	bundle := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bundle, "config.json"), spec, 0o644))
	return c.crun("run", "--bundle", bundle, id(t))
}

// id is a container's name. A test runs one at a time.
func id(t *testing.T) string {
	return strings.ReplaceAll(strings.ReplaceAll(t.Name(), "/", "-"), " ", "-")
}

// crun runs crun where it finds control groups of version 2 only, since it refuses a mixture
// of both versions although it uses neither here.
func (c *container) crun(args ...string) *exec.Cmd {
	const alone = `umount -R /sys/fs/cgroup 2>/dev/null; mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec crun "$@"`
	return exec.Command("unshare", append([]string{"--mount", "sh", "-c", alone, "sh", "--root", c.state, "--cgroup-manager=disabled"}, args...)...)
}

// running is a container with a server.
type running struct {
	t       *testing.T
	c       *container
	cmd     *exec.Cmd
	log     bytes.Buffer
	drained chan struct{}
}

// start waits until the server listens.
func (c *container) start(t *testing.T, o options) *running {
	t.Helper()
	r := &running{t: t, c: c, cmd: c.command(t, o), drained: make(chan struct{})}
	out, err := r.cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, r.cmd.Start())
	t.Cleanup(func() { _ = c.crun("delete", "--force", id(t)).Run() })
	lines := bufio.NewReader(out)
	for !strings.Contains(r.log.String(), `"event":"mcp_pruner.ready","data":{"host"`) {
		line, err := lines.ReadBytes('\n')
		r.log.Write(line)
		require.NoError(t, err, r.log.String())
	}
	go func() {
		defer close(r.drained)
		_, _ = io.Copy(&r.log, lines)
	}()
	return r
}

// inside runs the program in the container, as a health check does.
func (r *running) inside(args ...string) error {
	return r.c.crun(append([]string{"exec", id(r.t), r.c.config.Entrypoint[0]}, args...)...).Run()
}

func posted(t *testing.T, port int, method, params string) string {
	t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	response, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/mcp", port), "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return string(text)
}
