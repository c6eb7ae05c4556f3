package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A row is what was measured, and its value.
type row struct{ name, value string }

type table []row

// rooms are the folders whose lines the table counts, those of the design's card.
var rooms = []string{"cmd", "fsm", "states", "tools", "pruneclient", "runnerfsm"}

// developers are packages that no user's program contains: they were below cmd before they became a module of their own.
var developers = []string{"cmd/dev", "cmd/internal/dev"}

func measure(folder string) (table, error) {
	product, err := load(folder)
	if err != nil {
		return nil, err
	}
	lines, err := countLines(product)
	if err != nil {
		return nil, err
	}
	var m table
	total := lines.source["."]
	m = append(m, row{"lines of source", number(total)}, row{"lines of tests", number(lines.tests["."])})
	for _, room := range rooms {
		m = append(m, row{"source in `" + room + "`", number(lines.source[room])})
	}
	m = append(m, row{"share of `cmd`", fmt.Sprintf("%.1f %%", 100*float64(lines.source["cmd"])/float64(total))})
	m = append(m, row{"packages", number(len(product))})
	largest := largestCircle(product)
	m = append(m, row{"largest circle of files", fmt.Sprintf("%d (`%s`)", len(largest.files), largest.folder)})
	m = append(m, row{"longest chain of imports", number(longestChain(product))})
	m = append(m, row{"exported names unused outside their package", number(len(unused(product)))})
	return m, nil
}

// load parses and type-checks the packages of the product.
func load(folder string) ([]*packages.Package, error) {
	config := &packages.Config{Dir: folder, Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
		packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps | packages.NeedModule}
	loaded, err := packages.Load(config, "./...")
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(loaded) > 0 {
		return nil, fmt.Errorf("the packages do not build")
	}
	return slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return slices.ContainsFunc(developers, func(d string) bool { return strings.HasPrefix(inside(p), d) })
	}), nil
}

// inside is the package's folder in its module.
func inside(p *packages.Package) string {
	return strings.TrimPrefix(strings.TrimPrefix(p.PkgPath, p.Module.Path), "/")
}

type lineCount struct{ source, tests map[string]int }

// countLines counts per room, and the whole under ".". A package's tests are the test files in its folder.
func countLines(product []*packages.Package) (lineCount, error) {
	count := lineCount{source: map[string]int{}, tests: map[string]int{}}
	for _, p := range product {
		room, _, _ := strings.Cut(inside(p), "/")
		if len(p.GoFiles) == 0 {
			continue
		}
		files, err := filepath.Glob(filepath.Join(filepath.Dir(p.GoFiles[0]), "*.go"))
		if err != nil {
			return count, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return count, err
			}
			into := count.source
			if strings.HasSuffix(file, "_test.go") {
				into = count.tests
			}
			n := bytes.Count(text, []byte("\n"))
			into[room] += n
			into["."] += n
		}
	}
	return count, nil
}

// longestChain counts the packages of the longest way along imports.
func longestChain(product []*packages.Package) int {
	own := map[string]*packages.Package{}
	for _, p := range product {
		own[p.PkgPath] = p
	}
	length := map[string]int{}
	var chain func(p *packages.Package) int
	chain = func(p *packages.Package) int {
		if n, known := length[p.PkgPath]; known {
			return n
		}
		longest := 0
		for path := range p.Imports {
			if next := own[path]; next != nil {
				longest = max(longest, chain(next))
			}
		}
		length[p.PkgPath] = longest + 1
		return longest + 1
	}
	longest := 0
	for _, p := range product {
		longest = max(longest, chain(p))
	}
	return longest
}

// unused lists the exported names at the top of packages that no other package uses.
func unused(product []*packages.Package) []string {
	used := map[types.Object]bool{}
	for _, p := range product {
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg() != p.Types {
				used[origin(object)] = true
			}
		}
	}
	var names []string
	for _, p := range product {
		scope := p.Types.Scope()
		for _, name := range scope.Names() {
			if object := scope.Lookup(name); object.Exported() && !used[object] && p.Name != "main" {
				names = append(names, inside(p)+"."+name)
			}
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

// origin is the declaration of a generic function or type that an object is an instance of.
func origin(object types.Object) types.Object {
	if f, ok := object.(*types.Func); ok {
		return f.Origin()
	}
	return object
}

// number writes a count with commas between the thousands.
func number(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", number(n/1000), n%1000)
}
