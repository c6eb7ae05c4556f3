package bucket_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/bucket"
	"github.com/mcp-pruner/mcp-pruner/tools/bucket/buckettest"
)

func TestObjects(t *testing.T) {
	s := buckettest.Start(t)
	b, err := bucket.New(s.Settings)
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, b.Put(ctx, "a", []byte("text\x00\xff")))
	got, err := b.Get(ctx, "a")
	require.NoError(t, err)
	assert.Equal(t, "text\x00\xff", string(got))
	assert.Contains(t, s.Objects(), "/bucket/prefix/a")
	require.NoError(t, b.Delete(ctx, "a"))
	require.NoError(t, b.Delete(ctx, "a"), "it is gone")
	_, err = b.Get(ctx, "a")
	require.ErrorIs(t, err, bucket.ErrNotFound)

	wrong := s.Settings
	wrong.ID = "another"
	b, err = bucket.New(wrong)
	require.NoError(t, err)
	err = b.Put(ctx, "a", nil)
	require.ErrorContains(t, err, "403 Forbidden AccessDenied")
	assert.NotContains(t, err.Error(), wrong.Secret)
	s.Break(true)
	require.ErrorContains(t, b.Put(ctx, "a", nil), "503")
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`{"url": "https://s3.example/bucket", "access_key_id": "i", "secret_access_key": "s"}`: "",
		`{"url": "https://s3.example/bucket", "access_key_id": "i"}`:                           `want {"url"`,
		`{"url": "https://s3.example/bucket", "key": "i"}`:                                     `want {"url"`,
		`{"url": "s3.example", "access_key_id": "i", "secret_access_key": "s"}`:                "a bucket's address is https://HOST/BUCKET",
	} {
		file := filepath.Join(t.TempDir(), "bucket.json")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		s, err := bucket.Read(file)
		if want == "" {
			require.NoError(t, err)
			assert.Equal(t, bucket.Settings{URL: "https://s3.example/bucket", ID: "i", Secret: "s"}, s)
			continue
		}
		require.ErrorContains(t, err, want)
	}
}
