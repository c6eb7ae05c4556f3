package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// writeForest writes a forest. names lists all features; only the used ones are written.
func writeForest(w io.Writer, f *learned.Forest, names []string, notes []string) error {
	out := bufio.NewWriter(w)
	for _, note := range notes {
		fmt.Fprintf(out, "# %s\n", note)
	}
	number, used := numbering(f, names)
	fmt.Fprintf(out, "base %d\nfeatures %s\n", f.Base, strings.Join(used, "|"))
	for k := range f.Trees {
		t := &f.Trees[k]
		for _, n := range t.Nodes {
			if n.Threshold == learned.Never {
				out.WriteString("- ")
			} else {
				fmt.Fprintf(out, "%d>%d ", number[n.Feature], n.Threshold)
			}
		}
		for i, v := range t.Leaf {
			if i > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(strconv.Itoa(int(v)))
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

// numbering assigns consecutive numbers to the features that are used.
func numbering(f *learned.Forest, names []string) (number map[int32]int, used []string) {
	asked := map[int32]bool{}
	for k := range f.Trees {
		for _, n := range f.Trees[k].Nodes {
			if n.Threshold != learned.Never {
				asked[n.Feature] = true
			}
		}
	}
	number = map[int32]int{}
	for i, name := range names {
		if asked[int32(i)] {
			number[int32(i)] = len(used)
			used = append(used, name)
		}
	}
	return number, used
}
