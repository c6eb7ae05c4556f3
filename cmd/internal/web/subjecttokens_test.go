package web_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// TestSubjectTokens: a file that others may read is refused, as other secrets are, and no error has a token.
func TestSubjectTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	file := web.SubjectTokens(path)
	require.ErrorIs(t, file.Check(), os.ErrNotExist)
	put := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	put(`{"ada": {"web": "secret", "broken": "secret\r\nX: y", "empty": ""}, "": {"web": "owner"}}`)
	require.NoError(t, file.Check())
	for subject, want := range map[string]string{"ada": "secret", "": "owner"} {
		token, err := file.Token(subject, "web")
		require.NoError(t, err)
		assert.Equal(t, want, token)
	}
	for name, want := range map[string]string{"broken": "is empty or has a line break", "empty": "is empty", "none": "there is no token"} {
		_, err := file.Token("ada", name)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
	_, err := file.Token("bob", "web")
	require.ErrorContains(t, err, `there is no token "web" for the subject "bob"`)
	put(`{"ada": "secret"}`)
	err = file.Check()
	require.ErrorContains(t, err, `want {"SUBJECT": {"NAME": "TOKEN"}}`)
	assert.NotContains(t, err.Error(), `: "secret"`)
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(path, 0o644))
		require.ErrorContains(t, file.Check(), "others may read it; chmod 600")
	}
}
