//go:build unix

package process_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

func ExampleProcess_Run() {
	p := process.Process{Path: "/bin/sh", Args: []string{"-c", "echo hello; exit 3"}, Stdout: os.Stdout, Stderr: io.Discard}
	code, err := p.Run(context.Background())
	fmt.Println(code, err)
	// Output:
	// hello
	// 3 <nil>
}
