package proxy

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A helper request and the middle of a conversation are not recorded; of the first turns, the first is.
func TestNote(t *testing.T) {
	for _, policy := range []Policy{GC, Off} {
		t.Run(string(policy), func(t *testing.T) {
			r := newRig(t, database(t), GC)
			if policy == Off {
				r.server.runs = nil
			}
			file := filepath.Join(t.TempDir(), "request.json")
			r.server.note.path, r.server.note.emit = file, r.server.emit
			ask := func(body string) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.proxy.URL+"/v1/messages", bytes.NewReader([]byte(body)))
				require.NoError(t, err)
				req.Header.Set("User-Agent", "claude-cli/2.1.329 (external, cli)")
				req.Header.Set("X-Api-Key", "sk-secret")
				res, err := http.DefaultClient.Do(req)
				require.NoError(t, err)
				_, _ = io.ReadAll(res.Body)
				require.NoError(t, res.Body.Close())
			}
			const tools = `"tools":[{"name":"Bash","input_schema":{}}],`
			ask(`{"model":"c","messages":[{"role":"user","content":"a title, please"}]}`)
			ask(`{"model":"c",` + tools + `"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"two"},{"role":"user","content":"three"}]}`)
			require.NoFileExists(t, file)
			first := `{"model":"c",` + tools + `"messages":[{"role":"user","content":"fix it"}]}`
			ask(first)
			ask(`{"model":"c",` + tools + `"messages":[{"role":"user","content":"of another session"}]}`)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, first, string(text), "the body as it came, and no header")
			info, err := os.Stat(file)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			assert.True(t, slices.Contains(r.logged(), "proxy.noted"))
		})
	}
}

// No file is replaced and no link is followed, whether it was there at the start or came later.
func TestNoteReplacesNothing(t *testing.T) {
	dir := t.TempDir()
	full, link := filepath.Join(dir, "full"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(full, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(dir, "nowhere"), link))
	require.NoError(t, newFile(filepath.Join(dir, "new")))
	for _, path := range []string{full, link} {
		require.ErrorContains(t, newFile(path), path+" exists already; name a new file")
		r := newRig(t, database(t), GC)
		r.server.note.path, r.server.note.emit = path, r.server.emit
		r.post(t, "/v1/messages", []byte(`{"model":"c","tools":[{"name":"x","input_schema":{}}],"messages":[{"role":"user","content":"fix it"}]}`))
		assert.Contains(t, r.logged(), "mcp_pruner.warning")
	}
	text, err := os.ReadFile(full)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	assert.NoFileExists(t, filepath.Join(dir, "nowhere"))
}
