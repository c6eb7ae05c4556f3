//go:build e2e && all

package e2e

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLargeOriginalsLieInABucket proves with versitygw, a service with Amazon's S3 API, that an original over 1 MiB lies in the bucket,
// recovers at every gateway, and is gone once its subject is forgotten.
func TestLargeOriginalsLieInABucket(t *testing.T) {
	programs := t.TempDir()
	install := exec.Command("go", "install", "github.com/versity/versitygw/cmd/versitygw@v1.8.0")
	install.Env = append(os.Environ(), "GOBIN="+programs)
	if out, err := install.CombinedOutput(); err != nil {
		t.Skip("versitygw cannot be built: ", err, string(out))
	}
	data := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(data, "originals"), 0o700))
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	service := exec.Command(filepath.Join(programs, "versitygw"), "--access", "an-id", "--secret", "a-secret", "--port", address, "posix", data)
	require.NoError(t, service.Start())
	t.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait()
	})
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	settings := filepath.Join(data, "bucket.json")
	require.NoError(t, os.WriteFile(settings, fmt.Appendf(nil, `{"url": "http://%s/originals/of a team", "access_key_id": "an-id", "secret_access_key": "a-secret"}`, address), 0o600))
	objects := func() (n int) {
		_ = filepath.WalkDir(filepath.Join(data, "originals"), func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				n++
			}
			return nil
		})
		return n
	}

	c := newTeamWith(t, []string{
		"MCP_PRUNER_STORE_BUCKET=" + settings, "JEEVES_MCP_PRUNER_MAX_PRUNE_INPUT_BYTES=2097152", "JEEVES_PRUNER_TIMEOUT_MS=30000",
	}, "alice")
	l := newLoad(c)
	a := &agent{load: l, url: c.front, owner: "alice", modern: true}
	a.round("small")
	require.Zero(t, objects())
	a.round("large")
	require.Len(t, l.issued, 2, "%v", l.problems)
	require.Equal(t, 1, objects())
	for _, r := range c.gateways {
		assert.True(t, (&agent{load: l, url: r.url, owner: "alice", modern: true}).recovers(l.issued[1]), "%v", l.problems)
	}
	assert.Empty(t, l.wrong)
	c.run("store", "forget", "--subject", "alice")
	assert.Zero(t, objects())
	for _, r := range c.gateways {
		assert.NotContains(t, read(t, r.log), "a-secret")
	}
}
