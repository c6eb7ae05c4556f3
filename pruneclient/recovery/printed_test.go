package recovery

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manyLines returns a text, each with a word.
func manyLines(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  \x1b[32m%s %d\x1b[0m is line %d\n\n", word, i, i)
	}
	return b.String()
}

// What was printed is known again, whatever the shell and the client have made of it.
func TestPrintedIsKnownAgain(t *testing.T) {
	p := Printed{State: t.TempDir()}
	whole := manyLines(300, "alpha") + strings.Repeat("x", 5_000) + strings.Repeat("y", 5_000) + "\n"
	_, ok := p.Find(whole)
	assert.False(t, ok, "nothing was printed")
	p.Note("prn_3ddf8b97", whole)
	p.Note("s12", "another\n")
	lines := strings.Split(whole, "\n")
	for name, text := range map[string]string{
		"all":                whole,
		"trimmed":            strings.TrimSpace(whole),
		"CRLF":               strings.ReplaceAll(whole, "\n", "\r\n"),
		"head":               strings.Join(lines[:80], "\n"),
		"tail":               strings.Join(lines[200:], "\n"),
		"every third line":   strings.Join([]string{lines[0], lines[6], lines[12], lines[18]}, "\n"),
		"in a frame":         "Chunk ID: 1\nWall time: 1 s\nOutput:\n" + whole + "\n[exit code 0]",
		"cut in the middle":  strings.Join(lines[:50], "\n") + "\n... 1234 tokens truncated ...\n" + strings.Join(lines[500:], "\n"),
		"cut in a long line": whole[:len(whole)-3_000],
	} {
		id, ok := p.Find(text)
		assert.True(t, ok, name)
		assert.Equal(t, "prn_3ddf8b97", id, name)
	}
	for name, text := range map[string]string{
		"nothing":          "",
		"another text":     manyLines(300, "beta"),
		"mostly another":   manyLines(80, "alpha") + manyLines(80, "beta"),
		"an empty line":    "\n\n",
		"a word of a line": "alpha",
	} {
		_, ok := p.Find(text)
		assert.False(t, ok, name)
	}
	_, ok = Printed{}.Find(whole)
	assert.False(t, ok, "without a state directory")
}

// After a while the same text is the output of a command like any other.
func TestPrintedIsForgotten(t *testing.T) {
	p := Printed{State: t.TempDir()}
	text := manyLines(10, "alpha")
	p.Note("prn_3ddf8b97", text)
	files, err := filepath.Glob(filepath.Join(p.State, "printed", "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	before := time.Now().Add(-printedFor - time.Minute)
	require.NoError(t, os.Chtimes(files[0], before, before))
	_, ok := p.Find(text)
	assert.False(t, ok)
	p.Note("prn_00000000", "x\n")
	assert.NoFileExists(t, files[0], "what is too old is removed")
}

// Only the latest prints are remembered, so that looking for them costs a door little.
func TestTheLatestPrintsAreKnown(t *testing.T) {
	p := Printed{State: t.TempDir()}
	text := func(i int) string { return manyLines(10, "text"+strconv.Itoa(i)+"of") }
	began := time.Now().Add(-time.Minute)
	for i := range mostPrints + 3 {
		p.Note("s"+strconv.Itoa(i), text(i))
		files, err := filepath.Glob(filepath.Join(p.State, "printed", "s"+strconv.Itoa(i)+"_*"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		require.NoError(t, os.Chtimes(files[0], began.Add(time.Duration(i)*time.Second), began.Add(time.Duration(i)*time.Second)))
	}
	for i := range mostPrints + 3 {
		_, ok := p.Find(text(i))
		assert.Equal(t, i >= 3, ok, i)
	}
}
