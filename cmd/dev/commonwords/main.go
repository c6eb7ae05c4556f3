// Command commonwords counts anew how common words are in source code, over the folders that it is given, and prints the
// table that the line pruner embeds: pruneclient/lineprune/doc/lists/common.txt.
package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
)

func main() {
	var c counting
	for _, root := range os.Args[1:] {
		if err := c.count(root); err != nil {
			fmt.Fprintln(os.Stderr, "commonwords:", err)
			os.Exit(1)
		}
	}
	fmt.Print(c.table())
}

// counting holds the number of files in which each stem, and each word, occurs.
type counting struct {
	files        float64
	stems, words map[string]float64
}

const (
	mostOfAFolder = 6 // files; a limit per folder, so that no single library dominates the counts
	rareShare     = 160.0 / 8510
)

func (c *counting) count(root string) error {
	taken := map[string]int{}
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		dir, ext := filepath.Split(path)
		source := slices.Contains([]string{".go", ".py", ".js", ".ts", ".h", ".pm", ".md"}, filepath.Ext(ext))
		if err != nil || entry.IsDir() || !source || taken[dir] == mostOfAFolder {
			return err
		}
		raw, err := os.ReadFile(path)
		if err == nil && len(raw) > 1000 && len(raw) < 200_000 {
			taken[dir]++
			c.add(string(raw))
		}
		return err
	})
}

func (c *counting) add(text string) {
	if c.stems == nil {
		c.stems, c.words = map[string]float64{}, map[string]float64{}
	}
	c.files++
	stems, seen := map[string]bool{}, map[string]bool{}
	for _, id := range rank.Identifiers(text) {
		doc.EachPart(id, func(part string) {
			if part = strings.ToLower(part); len(part) > 1 && doc.ByteClass[part[0]] == doc.Lower {
				stems[doc.StemOf(part)], seen[part] = true, true
			}
		})
	}
	for s := range stems {
		c.stems[s]++
	}
	for w := range seen {
		c.words[w]++
	}
}

// table renders each common stem as the most frequent word with that stem.
func (c *counting) table() string {
	best := map[string]string{}
	for _, w := range slices.Sorted(maps.Keys(c.words)) {
		if s := doc.StemOf(w); c.words[w] > c.words[best[s]] {
			best[s] = w
		}
	}
	byBits := map[int][]string{}
	for s, n := range c.stems {
		if n >= rareShare*c.files {
			bits := int(math.Round(math.Log2(c.files / n)))
			byBits[bits] = append(byBits[bits], best[s])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# How common words are in source code: log2(files/files with the word's stem), rounded.\n")
	fmt.Fprintf(&b, "# Counted over %.0f files of the standard libraries of Go, Python, Perl and C, and of npm;\n", c.files)
	fmt.Fprintf(&b, "# cmd/dev/commonwords counts anew.\n")
	for _, bits := range slices.SortedFunc(maps.Keys(byBits), cmp.Compare) {
		slices.Sort(byBits[bits])
		for row := range slices.Chunk(byBits[bits], 16) {
			fmt.Fprintln(&b, bits, strings.Join(row, " "))
		}
	}
	return b.String()
}
