package auth_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth"
)

// The first line of a file is the key; an editor on Windows ends lines with CR LF.
func TestTokenFile(t *testing.T) {
	passes(t, "", func(t *testing.T, key string) auth.Keys {
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

// passes tests a place of keys. with returns one that has a single key; owner is whose it is.
func passes(t *testing.T, owner string, with func(t *testing.T, key string) auth.Keys) {
	t.Helper()
	const key = "Key-0123456789abcdef"
	keys := with(t, key)
	t.Run("its key is known", func(t *testing.T) {
		got, ok, err := keys.Owner(t.Context(), key)
		assert.NoError(t, err)
		assert.True(t, ok)
		assert.Equal(t, owner, got)
	})
	t.Run("no other is", func(t *testing.T) {
		for _, other := range []string{"", key[:len(key)-1], key + "0", " " + key, key + "\n", key + "\x00", strings.ToLower(key), "\xff", "' OR 1=1 --", strings.Repeat(key, 1<<16)} {
			got, ok, err := keys.Owner(t.Context(), other)
			assert.NoError(t, err)
			assert.False(t, ok, "%.40q", other)
			assert.Empty(t, got)
		}
	})
	t.Run("many ask at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				_, ok, err := keys.Owner(t.Context(), key)
				assert.True(t, ok && err == nil)
			})
		}
		all.Wait()
	})
}
