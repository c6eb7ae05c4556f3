package conformance

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/mcp-pruner/mcp-pruner/"

// TestImportsAreAsDocumented compares the imports of every package with the table in docs/ARCHITECTURE.md: each package has one
// row, and each row allows what its packages import and nothing else.
func TestImportsAreAsDocumented(t *testing.T) {
	for _, d := range changesOf(importTable(t), packages(t)) {
		t.Error("docs/ARCHITECTURE.md, who may import whom: " + d)
	}
}

func TestChangesOfImportsNameTheRow(t *testing.T) {
	table := []importRow{newImportRow("`a/x` `a/{y,z}`", "`b` `c/*`"), newImportRow("`b` `c/*`", "")}
	assert.Equal(t, []string{
		"add the row | `d` | `a/x` `mcp-go` |",
		"a/y imports d; if it should, its row is | `a/x` `a/{y,z}` | `b` `c/*` `d` |",
		"add the row | `f` |  |",
		"in the row of `a/x` `a/{y,z}` remove b, which it does not import",
		"remove a/z, which is no package or has another row, from the row of `a/x` `a/{y,z}`",
	}, changesOf(table, []listedPackage{
		{module + "d", []string{"fmt", module + "a/x", "github.com/mark3labs/mcp-go/mcp"}},
		{module + "a/x", nil}, {module + "a/y", []string{module + "c/d", module + "d"}},
		{module + "b", nil}, {module + "c/d", nil}, {module + "c/e", nil}, {module + "f", nil},
	}))
}

// outside are the modules of others that few packages may import, by their names in the table.
var outside = map[string]string{"github.com/mark3labs/mcp-go": "mcp-go", "github.com/looplab/fsm": "looplab/fsm"}

// documented returns the name that an import has in the table, or "" if it is not listed there.
func documented(importPath string) string {
	if name, ours := strings.CutPrefix(importPath, module); ours {
		return name
	}
	for path, name := range outside {
		if strings.HasPrefix(importPath, path) {
			return name
		}
	}
	return ""
}

// importRow allows the packages of one cell to import those of the other.
type importRow struct{ packages, may importCell }

func newImportRow(packages, may string) importRow {
	return importRow{newImportCell(packages), newImportCell(may)}
}

// importCell is a cell of the table. A name that ends in * stands for all packages below.
type importCell struct {
	text  string
	names []string
	used  map[string]bool // names that stand for a package seen
}

func newImportCell(text string) importCell {
	return importCell{text, cellNames(text), make(map[string]bool)}
}

// cellNames returns the names in a cell, of which a/{b,c} is two.
func cellNames(cell string) (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		folder, list, found := strings.Cut(strings.TrimSuffix(m[1], "}"), "{")
		if !found {
			names = append(names, m[1])
			continue
		}
		for _, name := range strings.Split(list, ",") {
			names = append(names, folder+name)
		}
	}
	return names
}

// has reports whether the cell names a package, and notes that.
func (c importCell) has(name string) bool {
	at := slices.IndexFunc(c.names, func(n string) bool {
		below, all := strings.CutSuffix(n, "*")
		return n == name || all && strings.HasPrefix(name, below)
	})
	if at >= 0 {
		c.used[c.names[at]] = true
	}
	return at >= 0
}

// unused returns the names that stand for no package seen.
func (c importCell) unused() []string {
	return slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return c.used[name] })
}

// changesOf returns what is to be changed in the table.
func changesOf(table []importRow, all []listedPackage) (changes []string) {
	for _, p := range all {
		var imports []string
		for _, i := range p.Imports {
			if i := documented(i); i != "" && !slices.Contains(imports, i) {
				imports = append(imports, i)
			}
		}
		name := documented(p.ImportPath)
		at := slices.IndexFunc(table, func(r importRow) bool { return r.packages.has(name) })
		if at < 0 {
			row := "add the row | `" + name + "` | `" + strings.Join(imports, "` `") + "` |"
			changes = append(changes, strings.ReplaceAll(row, "``", ""))
			continue
		}
		for _, i := range imports {
			if r := table[at]; !r.may.has(i) {
				changes = append(changes, name+" imports "+i+"; if it should, its row is | "+r.packages.text+" | "+strings.TrimSpace(r.may.text+" `"+i+"`")+" |")
			}
		}
	}
	for _, r := range table {
		for _, name := range r.may.unused() {
			changes = append(changes, "in the row of "+r.packages.text+" remove "+name+", which it does not import")
		}
		for _, name := range r.packages.unused() {
			changes = append(changes, "remove "+name+", which is no package or has another row, from the row of "+r.packages.text)
		}
	}
	return changes
}

func importTable(t *testing.T) (table []importRow) {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(raw), "| package | may import |\n|---|---|\n")
	require.True(t, found, "docs/ARCHITECTURE.md has no import table")
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			break
		}
		table = append(table, newImportRow(strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])))
	}
	return table
}

type listedPackage struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listedPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	list.Dir = "../../.."
	out, err := list.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, list.Start())
	var all []listedPackage
	for d := json.NewDecoder(out); ; {
		var p listedPackage
		err := d.Decode(&p)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		all = append(all, p)
	}
	require.NoError(t, list.Wait())
	require.NotEmpty(t, all)
	return all
}
