package auth_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth/authtest"
)

// The first line of a file is the key; an editor on Windows ends lines with CR LF.
func TestTokenFile(t *testing.T) {
	authtest.Run(t, "", func(t *testing.T, key string) auth.Keys {
		path := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(path, []byte(key+"\r\nsecond line\n"), 0o600))
		token, err := auth.ReadToken(path)
		require.NoError(t, err)
		return token
	})
}

// Nobody is admitted by a token that is empty.
func TestAnEmptyTokenIsNobodys(t *testing.T) {
	_, ok, err := auth.Token("").Owner(t.Context(), "")
	require.NoError(t, err)
	assert.False(t, ok)
}
