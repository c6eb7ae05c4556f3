//go:build unix

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"
)

// upgraded is the home folder of testdata/upgrade in another place, with the program of today.
type upgraded struct {
	t    *testing.T
	home string
}

// madeUp is the home folder's path in testdata/upgrade.
const madeUp = "/home/user"

// TestUpgrade: in a folder that an earlier version left, every id is recovered, every verb says what it said then, and the
// clients' files are restored byte for byte.
func TestUpgrade(t *testing.T) {
	u := newUpgraded(t)
	written := u.clientFiles()
	doctor, _ := u.run("doctor")
	for _, client := range []string{"claude", "codex", "gemini", "opencode"} {
		assert.Contains(t, doctor, client)
	}
	said, err := txtar.ParseFile("../../testdata/upgrade/said.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, said.Files)
	for _, f := range said.Files {
		line := u.here(f.Name)
		if strings.HasSuffix(line, "--uninstall") && written != nil {
			now := u.clientFiles()
			for _, files := range []map[string]string{written, now} { // init adds to these what their hooks got since
				delete(files, u.here("/home/user/.claude/settings.json"))
				delete(files, u.here("/home/user/.config/opencode/plugins/mcp-pruner.js"))
				delete(files, u.here("/home/user/.gemini/settings.json"))
			}
			assert.Equal(t, written, now, "init changed what was there already")
			written = nil
		}
		out, status := u.run(line)
		assert.Equal(t, u.here(string(f.Data)), fmt.Sprintf("exit %d\n%s\n", status, abridged(line, out)), line)
	}
	u.assertRestored()
}

func newUpgraded(t *testing.T) *upgraded {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	u := &upgraded{t, home}
	made := u.unpack()
	u.move(made)
	require.NoError(t, os.Link(built(t), filepath.Join(home, "bin", "mcp-pruner")))
	return u
}

// here replaces the made-up home folder by the real one.
func (u *upgraded) here(text string) string { return strings.ReplaceAll(text, madeUp, u.home) }

// unpack writes the folder and returns when it was made. Paths in it are replaced, but not in what is sealed or hashed.
func (u *upgraded) unpack() (made time.Time) {
	u.t.Helper()
	file, err := os.Open("../../testdata/upgrade/home.tar.gz")
	require.NoError(u.t, err)
	defer file.Close()
	packed, err := gzip.NewReader(file)
	require.NoError(u.t, err)
	archive := tar.NewReader(packed)
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return made
		}
		require.NoError(u.t, err)
		text, err := io.ReadAll(archive)
		require.NoError(u.t, err)
		path := filepath.Join(u.home, head.Name)
		if !sealed(head.Name) {
			text = []byte(u.here(string(text)))
		}
		require.NoError(u.t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(u.t, os.WriteFile(path, text, os.FileMode(head.Mode)))
		made = head.ModTime
	}
}

// sealed reports whether a file's bytes are proved by others: traces, originals, databases.
func sealed(name string) bool {
	return strings.Contains(name, "trace.jsonl") || strings.HasSuffix(name, "run.jsonl") || strings.HasSuffix(name, "events.jsonl") ||
		strings.Contains(name, "/originals/") || strings.Contains(name, ".db")
}

// move changes the databases to what they would be if the folder had always been here and had been made now.
func (u *upgraded) move(made time.Time) {
	u.t.Helper()
	later := time.Since(made)
	u.execute("ledger.db", `UPDATE segments SET project = ?, created = created + ?, touched = touched + ? WHERE project = ?`,
		project(filepath.Join(u.home, "shop")), later.Microseconds(), later.Microseconds(), project(madeUp+"/shop"))
	u.execute("ledger.db", `UPDATE segments SET path = replace(path, ?, ?)`, madeUp, u.home)
	u.execute("recovery.db", `UPDATE items SET created_ms = created_ms + ?`, later.Milliseconds())
}

// project is the name that versions until now give a root in the ledger. It is written down here once more, because a
// change of the rule loses what users have.
func project(root string) string {
	sum := sha256.Sum256([]byte(root))
	return fmt.Sprintf("%s-%x", filepath.Base(root), sum[:2])
}

func (u *upgraded) execute(file, query string, args ...any) {
	u.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(u.home, ".local/state/mcp-pruner", file))
	require.NoError(u.t, err)
	_, err = db.Exec(query, args...)
	require.NoError(u.t, errors.Join(err, db.Close()), query)
}

// run runs a command line in the user's project, or a server with the line if it is JSON.
func (u *upgraded) run(line string) (stdout string, status int) {
	u.t.Helper()
	args, stdin := strings.Fields(line), ""
	if strings.HasPrefix(line, "{") {
		args, stdin = nil, line
	}
	cmd := exec.Command(filepath.Join(u.home, "bin", "mcp-pruner"), args...)
	cmd.Dir = filepath.Join(u.home, "shop")
	cmd.Env = []string{"HOME=" + u.home, "PATH=" + filepath.Join(u.home, "bin") + ":" + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC", "PRUNER_URL=embedded",
		"MCP_PRUNER_TOOLSETS=core,text", "MCP_PRUNER_RECOVERY_STORE=" + filepath.Join(u.home, ".local/state/mcp-pruner/recovery.db")}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout = strings.NewReader(stdin), &out
	err := cmd.Run()
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		require.NoError(u.t, err, line)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// abridged returns of a long text its hash and its size, and of a trace's statistics the verdict.
func abridged(line, out string) string {
	var stats struct{ Verdict json.RawMessage }
	if strings.HasPrefix(line, "trace stats --json") && json.Unmarshal([]byte(out), &stats) == nil {
		return string(stats.Verdict)
	}
	if len(out) > 2000 {
		return fmt.Sprintf("sha256 %x of %d bytes", sha256.Sum256([]byte(out)), len(out))
	}
	return strings.TrimSuffix(out, "\n")
}

// clientFiles returns the clients' files with their backups by path.
func (u *upgraded) clientFiles() map[string]string {
	u.t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{".claude.json*", ".claude/*.json*", ".codex/*", ".gemini/*", ".config/opencode/*", ".config/opencode/plugins/*", ".config/mcp-pruner/*"} {
		paths, err := filepath.Glob(filepath.Join(u.home, pattern))
		require.NoError(u.t, err)
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil { // folders are none
				files[path] = string(text)
			}
		}
	}
	return files
}

// users are the clients' files as their user wrote them.
var users = map[string]string{
	".claude.json":                   `{"numStartups": 7, "mcpServers": {"files": {"type": "stdio", "command": "files-server", "args": ["--root", "shop"]}}}` + "\n",
	".claude/settings.json":          "{\n    \"model\": \"opus\",\n    \"permissions\": {\"allow\": [\"Bash(ls:*)\"]}\n}\n",
	".codex/config.toml":             "# my settings\nmodel = \"gpt-5.5\"\n\n[mcp_servers.files]\ncommand = \"files-server\" # from npm\n",
	".gemini/settings.json":          "{\n  // comments are allowed here\n  \"theme\": \"dark\"\n}\n",
	".config/opencode/opencode.json": "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\"files\": {\"type\": \"local\", \"command\": [\"files-server\"]}}\n}\n",
}

// assertRestored compares all clients' files with what their user wrote.
func (u *upgraded) assertRestored() {
	u.t.Helper()
	want := map[string]string{}
	for name, text := range users {
		want[filepath.Join(u.home, name)] = text
	}
	assert.Equal(u.t, want, u.clientFiles())
}
