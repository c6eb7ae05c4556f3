package page

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func written(t *testing.T, m Model) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, Write(&out, m))
	return out.String()
}

// No text of a model becomes markup, nor the end of the element that holds it.
func TestTextsStayTexts(t *testing.T) {
	html := written(t, Model{Title: "a <b> {script}", Sessions: []string{"</script><script>\u2028"}})
	assert.Contains(t, html, "<title>a &lt;b&gt; {script}</title>")
	assert.Contains(t, html, `"sessions":["\u003c/script\u003e\u003cscript\u003e\u2028"]`)
	assert.Equal(t, 2, strings.Count(html, "<script"), "the data and the script")
}

// The policy permits the page's own style and script by their hashes, and nothing inline besides.
func TestThePolicyNamesWhatThePageHas(t *testing.T) {
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`)
	for kind, html := range map[string]string{"copy": written(t, Model{Title: "x", Trace: 1}), "live": string(Live("x"))} {
		m := policy.FindStringSubmatch(html)
		require.NotNil(t, m, kind)
		said := strings.ReplaceAll(m[1], "&#39;", "'")
		assert.Equal(t, Policy(kind == "live"), said)
		assert.True(t, strings.HasPrefix(said, "default-src 'none'; "), said)
		assert.NotContains(t, said, "unsafe")
		assert.Equal(t, kind == "live", strings.Contains(said, "connect-src 'self'"), kind)
		for _, element := range []string{"style", "script"} {
			_, rest, _ := strings.Cut(html, "<"+element+">")
			text, _, _ := strings.Cut(rest, "</"+element+">")
			sum := sha256.Sum256([]byte(text))
			assert.Contains(t, said, element+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'", kind)
		}
		assert.NotRegexp(t, ` style="| on[a-z]+="`, html, "the policy would forbid it")
	}
}

// Only the model is added to the size of a page.
func TestThePageIsSmall(t *testing.T) {
	size := len(Live("mcp-pruner view"))
	t.Logf("%d bytes", size)
	assert.LessOrEqual(t, size, MaxBytes)
}

func TestACopyIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "view.html")
	require.NoError(t, os.WriteFile(path, []byte("what was there before"), 0o644))
	require.NoError(t, File{Name: path}.Write(Model{Title: "x"}))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "<!doctype html>"))
	if info, err := os.Stat(path); assert.NoError(t, err) && runtime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	var out strings.Builder
	require.NoError(t, File{Name: "-", Stdout: &out}.Write(Model{Title: "x"}))
	assert.Contains(t, out.String(), `"title":"x"`)
	require.Error(t, File{Name: filepath.Join(path, "no", "folder")}.Write(Model{}))
}
