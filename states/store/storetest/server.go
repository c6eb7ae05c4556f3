// Package storetest starts a PostgreSQL server for tests, of the programs that Debian installs.
package storetest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// Server is a running server that listens on a Unix socket only.
type Server struct {
	bin, data, socket string
	databases         atomic.Int64
}

// Start starts a server, which is stopped at the end of the test. It skips the test where PostgreSQL is not installed.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := programs()
	if bin == "" {
		t.Skip("PostgreSQL is not installed: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "pg") // short: the path of a socket is limited
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{bin: bin, data: filepath.Join(dir, "data"), socket: dir}
	if err := handOver(dir); err != nil {
		t.Skip("PostgreSQL does not run as root, and there is no user postgres: ", err)
	}
	s.run(t, "initdb", "-D", s.data, "-U", "pruner", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
	s.Start(t)
	t.Cleanup(func() { _ = s.command("pg_ctl", "-D", s.data, "-m", "immediate", "stop").Run() })
	return s
}

// Start starts a stopped server and waits until it takes connections. It does not wait for the disk: tests let its
// processes crash, but not the machine.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.run(t, "pg_ctl", "-D", s.data, "-w", "-t", "60", "-l", filepath.Join(s.socket, "log"),
		"-o", fmt.Sprintf("-k %s -c listen_addresses='' -c max_connections=200 -c fsync=off -c full_page_writes=off", s.socket), "start")
}

// Stop stops the server: mode is smart, fast or immediate, which is a crash.
func (s *Server) Stop(t testing.TB, mode string) {
	t.Helper()
	s.run(t, "pg_ctl", "-D", s.data, "-m", mode, "-w", "stop")
}

// Log returns what a stopped server wrote into its log.
func (s *Server) Log(t testing.TB) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(s.socket, "log"))
	require.NoError(t, err)
	return string(log)
}

// Database creates a database with the latest schema and returns its name for store.Open.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := s.Empty(t)
	_, _, err := store.Migrate(t.Context(), store.Database{Name: name})
	require.NoError(t, err)
	return name
}

// Empty creates a database without tables.
func (s *Server) Empty(t testing.TB) string {
	t.Helper()
	base := fmt.Sprintf("db%d", s.databases.Add(1))
	s.SQL(t, s.Name("postgres"), "CREATE DATABASE "+base)
	return s.Name(base)
}

// Name returns the name of a database of this server.
func (s *Server) Name(database string) string {
	return "postgres:///" + database + "?host=" + s.socket + "&user=pruner"
}

// SQL executes statements in a database.
func (s *Server) SQL(t testing.TB, name, statements string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, name)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statements, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
}

// Tool returns a command of one of PostgreSQL's programs, such as pg_dump, run as the server's user.
func (s *Server) Tool(name string, args ...string) *exec.Cmd { return s.command(name, args...) }

func (s *Server) run(t testing.TB, name string, args ...string) {
	t.Helper()
	cmd := s.command(name, args...)
	log := filepath.Join(s.socket, "out-"+name)
	file, err := os.Create(log) // not a pipe, which the server would hold open
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = file, file
	err = cmd.Run()
	_ = file.Close()
	out, _ := os.ReadFile(log)
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.socket
	unprivileged(cmd)
	return cmd
}

// programs returns the folder of the newest installed PostgreSQL, "" if there is none.
func programs() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is valid
	slices.Sort(found)
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
}
