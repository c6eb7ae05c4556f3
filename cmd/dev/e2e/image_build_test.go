//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// builder builds images with buildah, in a storage of its own.
type builder struct {
	t   *testing.T
	dir string
}

func newBuilder(t *testing.T) *builder {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("the image is not built: that takes Linux and root")
	}
	for _, program := range []string{"buildah", "crun", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("the image is not built: ", err)
		}
	}
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("the image is not built: nothing can be mounted here: %s", out)
	}
	const everyones = "/var/lib/containers" // buildah has a cache there, wherever its storage is
	if _, err := os.Stat(everyones); errors.Is(err, fs.ErrNotExist) {
		t.Cleanup(func() { assert.NoError(t, os.RemoveAll(everyones)) })
	}
	return &builder{t, t.TempDir()}
}

func (b *builder) buildah(args ...string) []byte {
	b.t.Helper()
	cmd := exec.Command("buildah", append([]string{"--root", filepath.Join(b.dir, "storage"),
		"--runroot", filepath.Join(b.dir, "run"), "--storage-driver", "vfs"}, args...)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+b.dir)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	require.NoError(b.t, err, "%s%s", out, &log)
	return out
}

// build builds a Dockerfile. Whatever it runs finds this machine's Go and shell, and takes
// modules from the cache.
func (b *builder) build(args ...string) {
	b.t.Helper()
	all := []string{"build", "--isolation", "chroot", "--pull-never", "--format", "docker"}
	for from, to := range b.volumes() {
		if _, err := os.Stat(from); err == nil {
			all = append(all, "--volume", from+":"+to)
		}
	}
	b.buildah(append(all, args...)...)
}

func (b *builder) volumes() map[string]string {
	env := func(name string) string {
		return strings.TrimSpace(ran(b.t, "go", "env", name))
	}
	return map[string]string{
		"/bin": "/bin:ro", "/lib": "/lib:ro", "/lib64": "/lib64:ro", "/usr/bin": "/usr/bin:ro", "/etc/alternatives": "/etc/alternatives:ro", // awk is a link

		env("GOROOT"):  "/usr/local/go:ro",
		env("GOCACHE"): "/cache",
		filepath.Join(env("GOMODCACHE"), "cache/download"): "/modules:ro",
	}
}

// bases makes the images on which the Dockerfile is based.
func (b *builder) bases() {
	b.t.Helper()
	for _, module := range []string{top, filepath.Join(top, "cmd/dev")} { // the second has what writes the licences
		require.NoError(b.t, command(5*time.Minute, module, "go", "mod", "download"))
	}
	for name, lines := range map[string]string{
		"docker.io/library/golang:1.26": "WORKDIR /tmp\nENV PATH=/usr/local/go/bin:/bin GOTOOLCHAIN=local GOPATH=/go GOPROXY=file:///modules GOCACHE=/cache\n",
		"gcr.io/distroless/static-debian12:nonroot": "COPY . /\nUSER 65532\nWORKDIR /home/nonroot\n" +
			"ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt\n",
	} {
		dir := b.t.TempDir()
		files := map[string]string{
			"Dockerfile":                        "FROM scratch\n" + lines,
			".dockerignore":                     "Dockerfile\n.dockerignore\n",
			"etc/passwd":                        "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n",
			"etc/group":                         "root:x:0:\nnonroot:x:65532:\n",
			"etc/ssl/certs/ca-certificates.crt": "",
		}
		for path, text := range files {
			require.NoError(b.t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755))
			require.NoError(b.t, os.WriteFile(filepath.Join(dir, path), []byte(text), 0o644))
		}
		args := []string{"--manifest", name, dir}
		if !strings.Contains(name, "golang") {
			args = append([]string{"--platform", "linux/amd64,linux/arm64"}, args...)
		}
		b.build(args...)
	}
}

// configuration is what an image says of how it is run.
type configuration struct {
	User, WorkingDir     string
	Env, Cmd, Entrypoint []string
	ExposedPorts         map[string]any
	Healthcheck          struct{ Test []string }
}

type inspection struct {
	Docker struct {
		Architecture string
		Config       configuration
	}
}

func (b *builder) inspected(t *testing.T, image string) (i inspection) {
	t.Helper()
	require.NoError(t, json.Unmarshal(b.buildah("inspect", "--type", "image", image), &i))
	return i
}

func (b *builder) configuration(t *testing.T) configuration {
	t.Helper()
	return b.inspected(t, "mcp-pruner").Docker.Config
}
