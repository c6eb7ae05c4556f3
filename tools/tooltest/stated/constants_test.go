package stated

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// constantsFile has the sentences about constants: a page, and behind tabs its sentences, each with " = ", the package and an expression
// of its constants: "timeout/time.Second".
const constantsFile = "testdata/constants.txt"

// tied is a sentence about an expression of a package.
type tied struct{ page, sentence, pkg, expression string }

// readConstants reads constantsFile.
func readConstants() (all []tied, err error) {
	text, err := os.ReadFile(constantsFile)
	page := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		sentence, ok := strings.CutPrefix(line, "\t")
		at := strings.LastIndex(sentence, " = ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !ok:
			page = line
		case at < 0:
			return nil, fmt.Errorf("%s: want SENTENCE = PACKAGE EXPRESSION, got %q", constantsFile, line)
		default:
			pkg, expression, _ := strings.Cut(sentence[at+len(" = "):], " ")
			all = append(all, tied{page, sentence[:at], pkg, expression})
		}
	}
	return all, err
}

// The numbers of the sentences about constants are those of the code.
func TestConstants(t *testing.T) {
	folder, err := top()
	require.NoError(t, err)
	all, err := readConstants()
	require.NoError(t, err)
	of := map[string][]string{}
	for _, s := range all {
		of[s.pkg] = append(of[s.pkg], s.expression)
	}
	program := source{folder, token.NewFileSet(), map[string]*types.Package{}}
	values := map[string]map[string]constant.Value{}
	for pkg, expressions := range of {
		values[pkg], err = program.evaluate(pkg, expressions)
		require.NoError(t, err)
	}
	for _, s := range all {
		value := values[s.pkg][s.expression]
		if value == nil {
			t.Errorf("%s: %s is no constant", s.pkg, s.expression)
			continue
		}
		want, _ := constant.Float64Val(constant.ToFloat(value))
		On(t, s.page).Says(s.sentence, s.pkg+" "+s.expression, want)
	}
}

// source is the program's source, of which only the declarations are read.
type source struct {
	folder string
	set    *token.FileSet
	known  map[string]*types.Package
}

const module = "github.com/mcp-pruner/mcp-pruner/"

// evaluate returns the values of a package's expressions, those that are constant.
func (s source) evaluate(pkg string, expressions []string) (map[string]constant.Value, error) {
	files, err := s.parse(pkg)
	if err != nil {
		return nil, err
	}
	name := files[0].Name.Name
	text := "package " + name + "\nimport \"time\"\nvar _ = []any{" + strings.Join(expressions, ", ") + "}\n"
	asked, err := parser.ParseFile(s.set, "expressions.go", text, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pkg, err)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	s.check(pkg, append(files, asked), &info)
	values := map[string]constant.Value{}
	ast.Inspect(asked, func(n ast.Node) bool {
		if list, ok := n.(*ast.CompositeLit); ok {
			for i, e := range list.Elts {
				values[expressions[i]] = info.Types[e].Value
			}
		}
		return true
	})
	return values, nil
}

func (s source) parse(pkg string) (files []*ast.File, err error) {
	folder := filepath.Join(s.folder, filepath.FromSlash(pkg))
	found, err := build.ImportDir(folder, 0)
	for _, name := range found.GoFiles {
		file, failed := parser.ParseFile(s.set, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		err = errors.Join(err, failed)
		files = append(files, file)
	}
	return files, err
}

// check finds the types of what a package declares. What comes from a package that is not read is invalid, which is no error here.
func (s source) check(pkg string, files []*ast.File, info *types.Info) *types.Package {
	config := types.Config{Importer: s, IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}}
	checked, _ := config.Check(module+pkg, s.set, files, info)
	return checked
}

// Import reads the program's own packages and time. Of other packages nothing is known: no constant of a page comes from them.
func (s source) Import(path string) (*types.Package, error) {
	if pkg := s.known[path]; pkg != nil {
		return pkg, nil
	}
	own, ok := strings.CutPrefix(path, module)
	switch {
	case ok:
		files, err := s.parse(own)
		if err != nil {
			return nil, err
		}
		s.known[path] = s.check(own, files, nil)
	case path == "time":
		pkg, err := importer.Default().Import(path)
		if err != nil {
			return nil, err
		}
		s.known[path] = pkg
	default:
		return nil, errors.New("not read")
	}
	return s.known[path], nil
}
