package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs"
)

// documents returns the licence, the README, the other pages, shell completions and man pages.
func (r *release) documents() ([]file, error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md"}
	err := filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var files []file
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name: name, mode: 0o644, data: data})
	}
	root := verbs.Root(command.Process{Stdin: bytes.NewReader(nil), Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
	scripts, err := completions(root)
	if err != nil {
		return nil, err
	}
	pages, err := r.manPages(root)
	return slices.Concat(files, scripts, pages), err
}

func completions(root *cobra.Command) ([]file, error) {
	var files []file
	for _, shell := range []struct {
		name string
		make func(*bytes.Buffer) error
	}{
		{"completions/mcp-pruner.bash", func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
		{"completions/_mcp-pruner", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"completions/mcp-pruner.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		{"completions/mcp-pruner.ps1", func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
	} {
		var b bytes.Buffer
		if err := shell.make(&b); err != nil {
			return nil, fmt.Errorf("%s: %w", shell.name, err)
		}
		files = append(files, file{name: shell.name, mode: 0o644, data: b.Bytes()})
	}
	return files, nil
}

// option matches the beginning of an option in cobra's man pages: its name, a default that is false or empty, and the
// tab before its description. man shows such a description without an indent.
var option = regexp.MustCompile(`(?m)^(?:\.PP\n)?(\\fB-.*?)(?:\[=false\]|=(?:"")?)?\n\t`)

// manPages returns one page for the program and one for each verb. man finds them if the archive's folder is on PATH.
func (r *release) manPages(root *cobra.Command) ([]file, error) {
	dir, err := os.MkdirTemp("", "man")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	root.DisableAutoGenTag = true
	month := r.when.Format("Jan 2006") // cobra's form of the date, which man does not accept
	header := &doc.GenManHeader{Section: "1", Source: "mcp-pruner " + r.version, Manual: "mcp-pruner", Date: &r.when}
	if err := doc.GenManTree(root, header, dir); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return nil, err
	}
	var files []file
	for _, page := range pages { // Glob returns them sorted
		data, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		data = bytes.Replace(data, []byte(`"`+month+`"`), []byte(`"`+r.when.Format(time.DateOnly)+`"`), 1)
		data = option.ReplaceAll(data, []byte(".TP\n$1\n"))
		files = append(files, file{name: "man/man1/" + filepath.Base(page), mode: 0o644, data: data})
	}
	return files, nil
}
