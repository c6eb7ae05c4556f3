package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	place      = regexp.MustCompile("`((?:cmd|fsm|states|tools|pruneclient|runnerfsm|testdata|docs|site|npm|plugin)(?:/[\\w./-]+)?|[\\w.-]+\\.(?:go|json|yml))`")
	identifier = regexp.MustCompile("`([a-z]+)((?:\\.[A-Z]\\w*)+)`")
	goal       = regexp.MustCompile("`make ([a-z0-9-]+)")
)

// TestNamesInPagesForDevelopers proves that the folders, files, identifiers and targets of make exist that these pages name.
func TestNamesInPagesForDevelopers(t *testing.T) {
	declared := declarations(t)
	makefile, err := os.ReadFile(filepath.Join(top, "Makefile"))
	require.NoError(t, err)
	for _, page := range []string{"docs/ARCHITECTURE.md", "CONTRIBUTING.md", "AGENTS.md"} {
		text, err := os.ReadFile(filepath.Join(top, page))
		require.NoError(t, err)
		for _, m := range place.FindAllStringSubmatch(string(text), -1) {
			if m[1] == "tools/list" || m[1] == "tools/call" { // methods of MCP
				continue
			}
			found, err := filepath.Glob(filepath.Join(top, m[1]))
			require.NoError(t, err)
			elsewhere, err := filepath.Glob(filepath.Join(top, "*/*", m[1])) // a file that the row's folder has
			require.NoError(t, err)
			assert.NotEmpty(t, append(found, elsewhere...), "%s names %s", page, m[1])
		}
		for _, m := range identifier.FindAllStringSubmatch(string(text), -1) {
			assert.True(t, declared[m[1]+m[2]], "%s names %s%s", page, m[1], m[2])
		}
		for _, m := range goal.FindAllStringSubmatch(string(text), -1) {
			assert.True(t, strings.Contains(string(makefile), "\n"+m[1]+":"), "%s names make %s", page, m[1])
		}
	}
}

// TestTestsInPages proves that the tests exist by which a page says that something is held.
func TestTestsInPages(t *testing.T) {
	written := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			written[m[1]] = true
		}
		return err
	}))
	named := regexp.MustCompile("`(Test[A-Z]\\w+)`")
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			assert.True(t, written[m[1]], "%s names %s", page, m[1])
		}
	}
}

// TestTheTableOfFolders proves that every package of the product is in a folder of the table in docs/ARCHITECTURE.md, and that the
// table stays short.
func TestTheTableOfFolders(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(top, "docs/ARCHITECTURE.md"))
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "| folder | content |\n|---|---|\n")
	require.True(t, found)
	var folders []string
	rows := strings.Split(strings.TrimSpace(table), "\n")
	assert.LessOrEqual(t, len(rows), 25)
	for _, row := range rows {
		for _, m := range quoted.FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
			folders = append(folders, m[1])
		}
	}
	for _, p := range packages(t) {
		path, in := strings.TrimPrefix(p.ImportPath, module), false
		for _, f := range folders {
			in = in || path == f || strings.HasPrefix(path, f+"/")
		}
		assert.True(t, in, "no row has %s", path)
	}
}

// declarations returns what the packages declare, as package.Name or package.Type.Method, and checks that a package's comment has its name.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := make(map[string]bool)
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "testdata" || d.Name() == "dev" || len(d.Name()) > 2 && d.Name()[0] == '.') {
			return errorOr(err, filepath.SkipDir)
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		if comment, ok := strings.CutPrefix(file.Doc.Text(), "Package "); ok {
			assert.Equal(t, file.Name.Name, strings.FieldsFunc(comment, func(r rune) bool { return r == ' ' || r == '\n' || r == ',' })[0], "the comment of %s", path)
		}
		for _, decl := range file.Decls {
			for _, name := range namesOf(decl) {
				declared[file.Name.Name+"."+name] = true
			}
		}
		return nil
	}))
	return declared
}

// errorOr returns the error, or instead if there is none.
func errorOr(err, instead error) error {
	if err != nil {
		return err
	}
	return instead
}

// namesOf returns what a declaration declares: types, functions, and methods as Type.Method.
func namesOf(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok {
				names = append(names, s.Name.Name)
			}
		}
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver := d.Recv.List[0].Type
		if star, ok := receiver.(*ast.StarExpr); ok {
			receiver = star.X
		}
		if name, ok := receiver.(*ast.Ident); ok {
			names = append(names, name.Name+"."+d.Name.Name)
		}
	}
	return names
}
