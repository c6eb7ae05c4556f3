package grep_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/grep"
)

func ExampleEngine_Run() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	_ = os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\ntwo\n"), 0o600)
	root, err := files.NewRoot(dir)
	if err != nil {
		panic(err)
	}
	engine := grep.Engine{Root: root, LookPath: exec.LookPath, Env: os.Environ}
	found, err := engine.Run(context.Background(), dir, grep.Search{
		Pattern: "^t", Mode: grep.Content, MaxMatches: 10, MaxBytes: 1 << 20, Paths: []grep.Path{{Rel: ".", Show: "."}},
	})
	if err != nil {
		panic(err)
	}
	for _, m := range found.Matches {
		fmt.Printf("%s:%d:%s\n", m.Path, m.Line, m.Text)
	}
	// Output: a.txt:2:two
}
