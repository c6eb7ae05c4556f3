package proxy

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// Only a request with the secret is served. The secret reaches neither the upstream nor the log, the trace, an answer, an
// argument, or a file that others can read.
func TestTheSecretOpensTheProxyAndLeavesNoTrace(t *testing.T) {
	up, state, dir := newUpstream(t), t.TempDir(), t.TempDir()
	var paths []string
	up.answer = func(w http.ResponseWriter, r *http.Request) {
		paths = append(paths, r.URL.RequestURI())
		_, _ = io.WriteString(w, `{}`)
	}
	p := startChild(t, up.URL, filepath.Join(dir, "ledger.db"), "XDG_STATE_HOME="+state, "MCP_PRUNER_LOG_LEVEL=debug")
	u, err := url.Parse(p.url)
	require.NoError(t, err)
	key := strings.TrimPrefix(u.Path, "/")
	require.Regexp(t, `^mcpp_[0-9a-f]{48}$`, key)
	plain := "http://" + u.Host
	var answers strings.Builder
	send := func(base, path, header string) int {
		req, err := http.NewRequest(http.MethodPost, base+path, bytes.NewReader(claudeHistory(40)))
		require.NoError(t, err)
		if header != "" {
			req.Header.Set(secret.Header, header)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		answers.Write(body)
		return res.StatusCode
	}
	assert.Equal(t, 200, send(p.url, "/v1/messages?beta=true", ""))
	assert.Equal(t, 200, send(plain, "/v1/messages", key))
	assert.Equal(t, 200, send(p.url, "/v1/files/a%2Fb", key), "in both places")
	assert.Equal(t, 200, send(plain+"//"+key, "/v1/messages", ""), "a doubled slash is one")
	assert.Equal(t, []string{"/v1/messages?beta=true", "/v1/messages", "/v1/files/a%2Fb", "/v1/messages"}, paths)
	wrong := key[:len(key)-1] + "x"
	for _, c := range [][2]string{{plain, ""}, {plain, wrong}, {plain, "x"}, {plain + "/" + wrong, ""}, {plain + "/v1/" + key, ""},
		{plain + "/" + strings.ToUpper(key), ""}, {plain + "/" + key + "x", ""}} {
		assert.Equal(t, 403, send(c[0], "/v1/messages", c[1]), c)
	}
	assert.Len(t, paths, 4, "the others reached nobody")
	for _, head := range up.heads {
		assert.Empty(t, head.Get(secret.Header))
		assert.NotContains(t, strings.Join(head["Referer"], ""), key)
	}
	if runtime.GOOS == "linux" {
		line, err := os.ReadFile("/proc/" + strconv.Itoa(p.Process.Pid) + "/cmdline")
		require.NoError(t, err)
		assert.NotContains(t, string(line), key)
	}
	log := p.end(t)
	assert.Contains(t, log, "no_secret")
	assert.Equal(t, 1, strings.Count(log, "no_secret"), "said once a minute")
	assert.NotContains(t, log+answers.String(), key[:20])
	for _, root := range []string{state, dir} {
		require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if !bytes.Contains(text, []byte(key)) {
				return nil
			}
			info, err := d.Info()
			require.NoError(t, err)
			assert.Equal(t, "proxy-secret", d.Name())
			if runtime.GOOS != "windows" {
				assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
			}
			return nil
		}))
	}
}

// A proxy that starts again has the same secret, so that clients stay as they are. A file that others could read is refused.
func TestTheSecretStays(t *testing.T) {
	lookup := func(dir string) func(string) (string, bool) {
		return func(name string) (string, bool) { return dir, name == "XDG_STATE_HOME" }
	}
	dir := t.TempDir()
	first, err := secret.Load(lookup(dir))
	require.NoError(t, err)
	again, err := secret.Load(lookup(dir))
	require.NoError(t, err)
	assert.Equal(t, first, again)
	other, err := secret.Load(lookup(t.TempDir()))
	require.NoError(t, err)
	assert.NotEqual(t, first, other)
	_, err = secret.Load(func(string) (string, bool) { return "", false })
	require.ErrorContains(t, err, "XDG_STATE_HOME")
	path, err := secret.File(lookup(dir))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(path, 0o644))
		_, err = secret.Load(lookup(dir))
		require.ErrorContains(t, err, "others may know the secret")
		require.NoError(t, os.Chmod(path, 0o600))
	}
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	_, err = secret.Load(lookup(dir))
	require.ErrorContains(t, err, "is not the secret")
}
