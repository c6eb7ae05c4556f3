package web_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
)

// The first line of a file is the key; an editor on Windows ends lines with CR LF.
func TestTokenFile(t *testing.T) {
	passes(t, "", func(t *testing.T, key string) web.AuthMethod {
		path := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(path, []byte(key+"\r\nsecond line\n"), 0o600))
		token, err := web.ReadToken(path)
		require.NoError(t, err)
		return token
	})
}

// Nobody is admitted by a token that is empty.
func TestAnEmptyTokenIsNobodys(t *testing.T) {
	_, err := web.Token("").Check(t.Context(), "")
	assert.ErrorIs(t, err, web.ErrUnknownCaller)
}

// An API key is known to a store by its hash alone.
func TestStoredKeys(t *testing.T) {
	passes(t, "alice", func(_ *testing.T, key string) web.AuthMethod {
		return web.NewStoredKeys(func(_ context.Context, hash []byte) (web.Caller, bool, error) {
			return web.Caller{Subject: "alice"}, bytes.Equal(hash, web.HashKey(key)), nil
		}, time.Minute, nil, time.Now)
	})
}

// passes are the checks that every method passes. with returns one that knows a single credential; subject is whose it is.
func passes(t *testing.T, subject string, with func(t *testing.T, key string) web.AuthMethod) {
	t.Helper()
	key := web.NewKey()
	method := with(t, key)
	t.Run("its credential is known", func(t *testing.T) {
		got, err := method.Check(t.Context(), key)
		require.NoError(t, err)
		assert.Equal(t, web.Caller{Subject: subject}, got)
	})
	t.Run("no other is", func(t *testing.T) {
		for _, other := range []string{"", key[:len(key)-1], key + "0", " " + key, key + "\n", key + "\x00", strings.ToUpper(key), "\xff", "' OR 1=1 --", strings.Repeat(key, 1<<16), web.NewKey()} {
			got, err := method.Check(t.Context(), other)
			assert.ErrorIs(t, err, web.ErrUnknownCaller, "%.40q", other)
			assert.Empty(t, got)
		}
	})
	t.Run("many ask at once", func(t *testing.T) {
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() {
				_, err := method.Check(t.Context(), key)
				assert.NoError(t, err)
			})
		}
		all.Wait()
	})
}
