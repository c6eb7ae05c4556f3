package runnerfsm

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	text := "first\n\nthird " + strings.Repeat("x", 5000) + "\nno newline"
	want := strings.Split(text, "\n")
	for name, chunked := range map[string]io.Reader{
		"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
	} {
		var got []string
		l := &lineWriter{Take: func(line []byte) { got = append(got, string(line)) }}
		_, err := io.Copy(l, chunked)
		require.NoError(t, err)
		l.End()
		assert.Equal(t, want, got, name)
	}
}

// TestLinesTooLong: a line above the limit is dropped whole, the next one is read.
func TestLinesTooLong(t *testing.T) {
	var got []string
	l := &lineWriter{Take: func(line []byte) { got = append(got, string(line)) }}
	half := bytes.Repeat([]byte("x"), maxClientLine/2+1)
	for _, p := range [][]byte{half, half, half, []byte("tail\nnext\n")} {
		_, _ = l.Write(p)
	}
	assert.Equal(t, []string{"next"}, got)
}

// TestInputAgain: a second launch reads from the beginning, whatever kind of input
// it is, and goes on where the first stopped.
func TestInputAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "input")
	require.NoError(t, os.WriteFile(path, []byte("skipped one two"), 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	_, err = file.Seek(8, io.SeekStart)
	require.NoError(t, err)
	for name, source := range map[string]io.Reader{"file": file, "stream": strings.NewReader("one two")} {
		in := newClientInput(source)
		_, err := io.CopyN(io.Discard, in.Open(false), 3)
		require.NoError(t, err)
		all, err := io.ReadAll(in.Open(true))
		require.NoError(t, err)
		assert.Equal(t, "one two", string(all), name)
		assert.Empty(t, in.kept, "nothing is kept of the last launch's input")
	}
}

func TestInputForgets(t *testing.T) {
	in := newClientInput(strings.NewReader("one two"))
	_, _ = io.CopyN(io.Discard, in.Open(false), 3)
	in.Forget()
	assert.Equal(t, " two", string(in.kept))
	rest, _ := io.ReadAll(in.Open(false))
	assert.Equal(t, " two", string(rest))
	assert.Empty(t, in.kept)
}

// TestInputNotRead: a terminal (here: another character device) and no input at
// all are not handed to a client.
func TestInputNotRead(t *testing.T) {
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	assert.Nil(t, newClientInput(null).Open(true))
	assert.Nil(t, newClientInput(nil).Open(true))
	newClientInput(nil).Forget()
	_, err = io.ReadAll(newClientInput(iotest.ErrReader(errors.New("broken"))).Open(false))
	assert.EqualError(t, err, "broken")
}
