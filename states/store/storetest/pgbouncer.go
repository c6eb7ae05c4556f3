package storetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Pooled starts a pgbouncer in transaction mode in front of the server and returns a function that makes the name of a
// database there from its name here. Its few connections are shared, so that work which relies on the state of a session
// meets that of others. It skips the test where pgbouncer is not installed, and unless PGBOUNCER_TESTS is set: a whole suite
// through three connections takes minutes on a loaded machine, and statements reach their time limit (make pgbouncer).
func (s *Server) Pooled(t testing.TB) (through func(name string) string) {
	t.Helper()
	if os.Getenv("PGBOUNCER_TESTS") == "" {
		t.Skip("make pgbouncer runs it")
	}
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Skip("pgbouncer is not installed: apt-get install pgbouncer")
	}
	users, config := filepath.Join(s.socket, "users"), filepath.Join(s.socket, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(users, []byte(`"pruner" ""`+"\n"), 0o644))
	require.NoError(t, os.WriteFile(config, []byte("[databases]\n* = host="+s.socket+"\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = "+s.socket+
		"\nauth_type = trust\nauth_file = "+users+"\npool_mode = transaction\ndefault_pool_size = 3\nlogfile = "+filepath.Join(s.socket, "bouncer-log")+"\n"), 0o644))
	cmd := exec.Command(bin, "-q", config)
	cmd.Dir = s.socket
	unprivileged(cmd)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	through = func(name string) string { return strings.Replace(name, "user=", "port=6432&user=", 1) }
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(context.Background(), through(s.Name("postgres")))
		return err == nil && conn.Close(context.Background()) == nil
	}, time.Minute, 10*time.Millisecond)
	return through
}
