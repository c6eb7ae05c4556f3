package stated

import (
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "take the numbers of blocks in testdata/numbers.txt as they are")

// Every number of the pages is held: by a sentence that names its constant, or by an entry of testdata/numbers.txt. With -v the
// test prints what holds what.
func TestEveryNumberIsHeld(t *testing.T) {
	const file = "testdata/numbers.txt"
	folder, err := top()
	require.NoError(t, err)
	holders, err := sentences(folder)
	require.NoError(t, err)
	entries, err := readEntries(file)
	require.NoError(t, err)
	of := map[string][]holder{}
	for _, h := range append(holders, entries...) {
		of[h.page] = append(of[h.page], h)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	taken := string(text)
	paths, err := pages(folder)
	require.NoError(t, err)
	for _, page := range paths {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(page)))
		require.NoError(t, err)
		faults, sums := check(page, string(text), of[page])
		for i := 0; testing.Verbose() && i < len(of[page]); i++ {
			h := of[page][i]
			t.Logf("%s: %q: %s", page, h.text, h.by)
		}
		for h, sum := range sums {
			taken = strings.Replace(taken, "\t"+h.text+" = "+h.sum+"\n", "\t"+h.text+" = "+sum+"\n", 1)
		}
		for _, fault := range faults {
			if !*update || !strings.Contains(fault, "-update") {
				t.Error(fault)
			}
		}
		delete(of, page)
	}
	require.Empty(t, of, "holders of pages that are not there")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(taken), 0o600))
	}
}

func TestSentencesOf(t *testing.T) {
	const src = `package p
func TestStated(t *testing.T) {
	page := stated.On(t, "A")
	page.Says("a %s", "x", x)
	stated.On(t, "B").Says("b %s", "y", y)
	page = stated.On(t, "C")
	page.Says("c %s", "z", z)
}`
	file, err := parser.ParseFile(token.NewFileSet(), "", src, 0)
	require.NoError(t, err)
	var got []string
	for _, h := range sentencesOf(file, "p") {
		got = append(got, h.page+": "+h.text+": "+h.by)
	}
	assert.Equal(t, []string{"A: a %s: p x", "B: b %s: p y", "C: c %s: p z"}, got)
}

func TestNumbersOf(t *testing.T) {
	text := "1. T12 of 2.1.329 keeps 9,500 bytes (UTF-8, o200k) on 2026-07-28.\n```\n7\n```\n[it](9.md) -32602 .05 120-154, 24h, kill -9 2>&1"
	var got []string
	for _, n := range numbersOf(text) {
		got = append(got, text[n.from:n.to])
	}
	assert.Equal(t, []string{"9,500", "32602", "05", "120", "154", "24"}, got)
}

func TestCheckOfAPage(t *testing.T) {
	const text = "# A\nIt waits 5 s\nfor 3 of 4.\n\n## B\n7 and 8\n\n9\n"
	held := []holder{{text: "waits %s s", sentence: true}, {text: "3 of 4"}, {text: "7 and", sum: "*"}}
	faults, _ := check("P", text, held)
	assert.Equal(t, []string{`P:8: nothing holds 9 in "9"`}, faults)
	faults, sums := check("P", text, []holder{{text: "gone 6"}, {text: "## B", sum: "x", by: "r"}, {text: "# A", sum: "*"}})
	assert.Equal(t, []string{`P: no number is left for the entry "gone 6"`, `P: numbers in the block "## B" have changed (r); -update takes them`}, faults)
	assert.Len(t, sums, 1)
}
