package recovery_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

func TestFileThatCannotBeOpened(t *testing.T) {
	_, err := store.OpenOriginals(filepath.Join(t.TempDir(), "no", "such", "folder.db"), recovery.Settings{})
	assert.ErrorContains(t, err, "folder.db")
}

func open(t *testing.T, path string, s recovery.Settings) *recovery.Store {
	t.Helper()
	return opener(func(s recovery.Settings) (*recovery.Store, error) { return store.OpenOriginals(path, s) }).store(t, s)
}

// childFile makes this test binary a process that stores texts.
const childFile = "RECOVERY_TEST_CHILD_FILE"

func TestMain(m *testing.M) {
	if path := os.Getenv(childFile); path != "" {
		storeOnDemand(path)
	}
	os.Exit(m.Run())
}

// storeOnDemand stores one text for each line of its input and prints the id
// once the text is acknowledged.
func storeOnDemand(path string) {
	s, err := store.OpenOriginals(path, recovery.Settings{})
	demand := bufio.NewScanner(os.Stdin)
	for i := 0; err == nil && demand.Scan(); i++ {
		var id string
		if id, err = s.Put(context.Background(), childText(i)); err == nil {
			_, err = fmt.Println(id)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func childText(i int) string { return fmt.Sprintf("text %d\n%s", i, strings.Repeat("x", i%3000)) }

type child struct {
	*exec.Cmd
	demand io.Writer
	ids    *bufio.Scanner
}

func startChild(t *testing.T, path string) child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childFile+"="+path)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return child{cmd, in, bufio.NewScanner(out)}
}

// store makes the child store texts; next waits for the id of one.
func (c child) store(t *testing.T, texts int) {
	t.Helper()
	_, err := io.WriteString(c.demand, strings.Repeat("\n", texts))
	require.NoError(t, err)
}

func (c child) next(t *testing.T) string {
	t.Helper()
	require.True(t, c.ids.Scan(), "the child ended")
	return c.ids.Text()
}

func TestFileSurvivesKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	c := startChild(t, path)
	c.store(t, 10_000) // more than it will get to
	var ids []string
	for range 50 {
		ids = append(ids, c.next(t))
	}
	require.NoError(t, c.Process.Kill()) // SIGKILL, in the middle of some Put
	for c.ids.Scan() {
		ids = append(ids, c.ids.Text())
	}
	_ = c.Wait()
	s := open(t, path, recovery.Settings{Report: func(m string) { t.Error(m) }})
	for i, id := range ids {
		requireText(t, s, id, childText(i))
	}
}

func TestFileIsSharedByProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	a, b := startChild(t, path), startChild(t, path)
	ours := open(t, path, recovery.Settings{})
	for i := range 30 {
		a.store(t, 1)
		b.store(t, 1)
		requireText(t, ours, a.next(t), childText(i))
		requireText(t, ours, b.next(t), childText(i))
		requireText(t, ours, put(t, ours, "ours"), "ours")
	}
}

func TestFileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	put(t, open(t, path, recovery.Settings{}), "secret")
	for _, suffix := range []string{"", "-wal"} {
		info, err := os.Stat(path + suffix)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), suffix)
	}
}

func TestFileDamaged(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.db")
	s := open(t, whole, recovery.Settings{})
	for i := range 50 {
		put(t, s, childText(i*50))
	}
	require.NoError(t, s.Close())
	good, err := os.ReadFile(whole)
	require.NoError(t, err)

	for name, content := range map[string][]byte{
		"not a database": []byte(strings.Repeat("nonsense ", 2000)),
		"torn tables":    append(append([]byte{}, good[:4096]...), make([]byte, len(good)-4096)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			var reports []string
			s := open(t, path, recovery.Settings{Report: func(m string) { reports = append(reports, m) }})
			requireText(t, s, put(t, s, "works again"), "works again")
			aside, err := filepath.Glob(path + ".damaged-*")
			require.NoError(t, err)
			require.NotEmpty(t, aside)
			kept, err := os.ReadFile(aside[0])
			require.NoError(t, err)
			assert.Equal(t, content, kept)
			require.Len(t, reports, 1)
			assert.Contains(t, reports[0], aside[0])
		})
	}
}

// A text that changed on disk is not handed out as the original.
func TestFileNoticesADamagedText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var reports []string
	s := open(t, path, recovery.Settings{Report: func(m string) { reports = append(reports, m) }})
	id := put(t, s, "text")
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	_, err = db.Exec(`UPDATE texts SET body = 'tixt'`)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	requireNotFound(t, s, id)
	assert.Len(t, reports, 1)
}

// Another process that holds the file makes nobody wait longer than they want to,
// however many wait, and what is stored can be read meanwhile.
func TestFileLockedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, recovery.Settings{})
	id := put(t, s, "stored before")
	other, err := sql.Open("sqlite", path+"?_txlock=immediate")
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	held, err := other.Begin()
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	var waiting sync.WaitGroup
	for range 5 {
		waiting.Go(func() {
			_, err := s.Put(ctx, "cannot be stored")
			assert.Error(t, err)
		})
	}
	requireText(t, s, id, "stored before") // reading waits for nobody: the file is still locked
	waiting.Wait()
	assert.Less(t, time.Since(start), 2*time.Second, "as long as the store would wait without a context")

	require.NoError(t, held.Rollback())
	requireText(t, s, put(t, s, "stored after"), "stored after")
	assert.Equal(t, 2, stats(t, s).Items, "what failed left nothing")
}
