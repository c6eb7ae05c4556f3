// Command systems checks that the packages of this folder's module and their tests would compile for the systems that its
// arguments name as GOOS/GOARCH, or by the standard library of the version of Go that an argument names as go1.26.0. It
// checks types from the source and generates no code: a tenth of the time of a build with an empty cache.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, target := range os.Args[1:] {
		if err := check(".", target); errors.Is(err, errNotHere) {
			fmt.Fprintf(os.Stderr, "systems: %v: it is not tried\n", err)
		} else if err != nil {
			fmt.Fprintf(os.Stderr, "systems: %s: %v\n", target, err)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

var errNotHere = errors.New("this version of Go cannot be had here")

// check reports why the module in a folder does not compile for a target.
func check(folder, target string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	env := append(os.Environ(), "CGO_ENABLED=0")
	if system, processor, ok := strings.Cut(target, "/"); ok {
		env = append(env, "GOOS="+system, "GOARCH="+processor)
	} else {
		env = append(env, "GOTOOLCHAIN="+target)
		version := exec.Command("go", "version")
		version.Env = env
		if out, err := version.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", errNotHere, bytes.TrimSpace(out))
		}
	}
	mode := packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedTypesSizes | packages.NeedImports | packages.NeedDeps | packages.NeedModule
	list, err := packages.Load(&packages.Config{Mode: mode, Dir: folder, Env: env, Tests: true, ParseFile: sparing(folder)}, "./...")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("there are no packages")
	}
	var found []string
	for _, p := range list {
		if strings.HasSuffix(p.ID, ".test") {
			continue // the main function that go test writes
		}
		for _, e := range p.Errors {
			found = append(found, e.Error())
		}
	}
	if len(found) > 0 {
		slices.Sort(found)
		return errors.New(strings.Join(slices.Compact(found), "\n"))
	}
	return nil
}

// sparing returns a parser that leaves out the bodies of functions outside a folder: their types do not depend on them.
func sparing(folder string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(files *token.FileSet, name string, text []byte) (*ast.File, error) {
		f, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if f == nil || strings.HasPrefix(name, folder+string(filepath.Separator)) {
			return f, err
		}
		for _, d := range f.Decls {
			if function, ok := d.(*ast.FuncDecl); ok {
				function.Body = nil
			}
		}
		return f, err
	}
}
