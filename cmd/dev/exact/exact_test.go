package exact

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources are files of the toolchain: code, prose and data.
func sources(t testing.TB) map[string]string {
	t.Helper()
	root := goRoot(t)
	texts := map[string]string{}
	for _, pattern := range []string{
		"src/net/http/*.go", "src/strings/*_test.go", "lib/time/*", "*.md", "src/cmd/compile/internal/ssa/_gen/*.rules", "misc/*/*.html",
	} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, f := range files {
			if info, err := os.Stat(f); err != nil || !info.Mode().IsRegular() || info.Size() > 48<<10 {
				continue
			}
			raw, err := os.ReadFile(f)
			require.NoError(t, err)
			texts[f] = strings.ToValidUTF8(string(raw), "\ufffd")
		}
	}
	require.Greater(t, len(texts), 10)
	return texts
}

// goRoot is where the toolchain's own sources are.
func goRoot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func TestCountIsTheLibrarys(t *testing.T) {
	for name, text := range sources(t) {
		assert.Equal(t, ask(text), Count(text), name)
	}
	for _, text := range edges {
		assert.Equal(t, ask(text), Count(text), "%q", text)
	}
}

var edges = []string{
	"", "a", " ", "\n", "  ", " a", "  a", "\ta", "\t\ta", "a\n\n  b", "a \n b", "(\n//x", " (\r\n", "x's y'LL z'r", "'", "a'", "a'é",
	"don't WE'RE I'm'", "HTTPServer", "parseJSONValue", "1234567", "12é", "é", "naïve café", "日本語テキスト", "a日b", " é", "  é", "\u00a0a",
	" \u00a0", "...", " ...", "...é", "== é", "\x00\x01", "\x1c\x1d", "\v\f", "🙂", "a🙂b", "\u0301a", "a\u0301", "ſ'ſ", "x'ſ", "\r\n\r\n\tx",
	"if err != nil {\n\treturn err\n}\n", "\u2028", "a\u2028b", "\ufffd", "\xff", "\x7f'A", "a\x7f b",
}

func FuzzCount(f *testing.F) {
	for _, text := range edges {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if want, got := ask(text), Count(text); want != got {
			t.Errorf("%q: %d tokens, not %d", text, want, got)
		}
	})
}
