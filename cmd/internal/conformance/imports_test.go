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

// TestImportsAreAsDocumented compares the imports of every package with the table in docs/ARCHITECTURE.md.
func TestImportsAreAsDocumented(t *testing.T) {
	allowed := importTable(t)
	for _, p := range packages(t) {
		group := topLevel(p.ImportPath)
		require.Contains(t, allowed, group, "docs/ARCHITECTURE.md has no row for %s", group)
		for _, i := range p.Imports {
			switch {
			case strings.HasPrefix(i, module) && topLevel(i) != group:
				listed := slices.Contains(allowed[group], topLevel(i)) || slices.Contains(allowed[group], strings.TrimPrefix(i, module))
				assert.True(t, listed, "%s imports %s", p.ImportPath, i)
			case strings.HasPrefix(i, "github.com/mark3labs/mcp-go"):
				assert.True(t, group == "cmd" || p.ImportPath == module+"tools/upstream/connect", "%s imports mcp-go", p.ImportPath)
			case strings.HasPrefix(i, "github.com/looplab/fsm"):
				assert.Equal(t, "fsm", group, "%s imports looplab/fsm", p.ImportPath)
			}
		}
	}
}

// TestNoFoldersImportEachOther proves that the subfolders of a folder do not import each other in a cycle. Go forbids
// cycles of packages only, and a folder may contain several packages.
func TestNoFoldersImportEachOther(t *testing.T) {
	for folder, imports := range importsOfFolders(packages(t)) {
		for start := range imports {
			assert.NotContains(t, reachable(imports, start), start, "%s/%s imports itself through its neighbours: %v", folder, start, imports[start])
		}
	}
}

// importsOfFolders returns, by folder and subfolder, the sibling subfolders that the subfolder imports.
func importsOfFolders(all []listedPackage) map[string]map[string][]string {
	folders := map[string]map[string][]string{}
	for _, p := range all {
		for _, i := range p.Imports {
			if !strings.HasPrefix(i, module) {
				continue
			}
			from, to := strings.Split(p.ImportPath, "/"), strings.Split(i, "/")
			common := 0
			for common < min(len(from), len(to)) && from[common] == to[common] {
				common++
			}
			if common == len(from) || common == len(to) { // one folder contains the other
				continue
			}
			folder := strings.Join(from[:common], "/")
			if folders[folder] == nil {
				folders[folder] = map[string][]string{}
			}
			folders[folder][from[common]] = append(folders[folder][from[common]], to[common])
		}
	}
	return folders
}

func reachable(imports map[string][]string, start string) []string {
	found := slices.Clone(imports[start])
	for i := 0; i < len(found); i++ {
		for _, next := range imports[found[i]] {
			if !slices.Contains(found, next) {
				found = append(found, next)
			}
		}
	}
	return found
}

func TestACircleIsFound(t *testing.T) {
	circle := []listedPackage{
		{module + "a/x", []string{module + "b/x", "fmt"}}, {module + "b/y", []string{module + "c"}}, {module + "c", []string{module + "a"}},
	}
	assert.Contains(t, reachable(importsOfFolders(circle)[strings.TrimSuffix(module, "/")], "a"), "a")
}

func topLevel(importPath string) string {
	top, _, _ := strings.Cut(strings.TrimPrefix(importPath, module), "/")
	return top
}

func importTable(t *testing.T) map[string][]string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/ARCHITECTURE.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(raw), "| package | may import |\n|---|---|\n")
	require.True(t, found, "docs/ARCHITECTURE.md has no import table")
	table := make(map[string][]string)
	for _, line := range strings.Split(section, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 4 {
			break
		}
		names := quoted.FindAllStringSubmatch(cells[2], -1)
		row := []string{}
		for _, n := range names {
			row = append(row, n[1])
		}
		table[strings.Trim(cells[1], " `")] = row
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
