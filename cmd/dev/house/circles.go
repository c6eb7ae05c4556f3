package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A circle is the largest set of a package's files that all need each other. A file needs another one that declares a
// name it uses.
type circle struct {
	folder string // of the package, in its module
	files  []string
}

// String is a line with the package, the number of files and their names.
func (c circle) String() string {
	return fmt.Sprintf("%s %d: %s", c.folder, len(c.files), strings.Join(c.files, " "))
}

// circles returns each package's largest circle, those with most files first.
func circles(product []*packages.Package) []circle {
	var all []circle
	for _, p := range product {
		c := circle{folder: inside(p)}
		needs := fileNeeds(p)
		for from := range needs {
			files := []string{filepath.Base(from)}
			for to := range reach(needs, from) {
				if to != from && reach(needs, to)[from] {
					files = append(files, filepath.Base(to))
				}
			}
			slices.Sort(files)
			if len(files) > len(c.files) || len(files) == len(c.files) && files[0] < c.files[0] {
				c.files = files
			}
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b circle) int {
		return cmp.Or(cmp.Compare(len(b.files), len(a.files)), cmp.Compare(a.folder, b.folder))
	})
	return all
}

func largestCircle(product []*packages.Package) circle { return circles(product)[0] }

// fileNeeds returns by file the files of its package whose names it uses.
func fileNeeds(p *packages.Package) map[string][]string {
	needs := map[string][]string{}
	for ident, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types {
			continue
		}
		from, to := p.Fset.File(ident.Pos()).Name(), p.Fset.File(object.Pos()).Name()
		if from != to && !slices.Contains(needs[from], to) {
			needs[from] = append(needs[from], to)
		}
	}
	return needs
}

// reach returns all files that one needs, directly or through others.
func reach(needs map[string][]string, from string) map[string]bool {
	found := map[string]bool{}
	var walk func(string)
	walk = func(file string) {
		for _, next := range needs[file] {
			if !found[next] {
				found[next] = true
				walk(next)
			}
		}
	}
	walk(from)
	return found
}
