// Command bench compares the built server with a bare mcp-go server that has one trivial tool. Measurements of the two
// alternate within one run, so that the ratios hold on any machine:
//
//	make bench MEASURES="stdio http"
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const bareArgument = "bare-mcp-go-server"

func main() {
	if len(os.Args) == 2 && os.Args[1] == bareArgument {
		serveBare()
		return
	}
	if len(os.Args) == 2 && os.Args[1] == bareHTTPArgument {
		serveBareHTTP()
		return
	}
	if len(os.Args) == 3 && os.Args[1] == bareProxyArgument {
		serveBareProxy(os.Args[2])
	}
	if len(os.Args) == 3 && os.Args[1] == quickArgument {
		n, _ := strconv.Atoi(os.Args[2]) // written by waysTo
		serveQuick(n)
		return
	}
	if len(os.Args) > 2 && os.Args[1] == relayArgument {
		relay(os.Args[2], os.Args[3:]...)
		return
	}
	out := flag.String("o", "", "file to add the times to, in the format that benchstat reads")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintf(os.Stderr, "usage: bench [-o FILE] PATH-OF-MCP-PRUNER [MEASURE...]; measures: %s\n", strings.Join(names(), " "))
		os.Exit(2)
	}
	if err := recorded(*out, flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// recorded runs the measures and adds their times to a file.
func recorded(out, binary string, only []string) error {
	if out == "" {
		return run(binary, only)
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	fmt.Fprintf(f, "goos: %s\ngoarch: %s\npkg: bench\n", runtime.GOOS, runtime.GOARCH)
	records = f
	return errors.Join(run(binary, only), f.Close())
}

// serveBare runs the bare server over stdio: unchanged mcp-go with a tool that returns a word, and one that returns the log of a job,
// of 40 kB.
func serveBare() {
	s := server.NewMCPServer("bare", "0")
	s.AddTool(mcp.NewTool("read"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hello\n"), nil
	})
	s.AddTool(mcp.NewTool("log", mcp.WithString("job")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		job := r.GetString("job", "")
		var b strings.Builder
		for i := range 600 {
			fmt.Fprintf(&b, "2026-01-01T00:%02d:%02d INFO worker %s heartbeat tick %d was ok\n", i/60, i%60, job, i)
		}
		fmt.Fprintf(&b, "2026-01-01T00:10:00 ERROR checksum of %s does not match\n", job)
		return mcp.NewToolResultText(b.String()), nil
	})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// measures lists all measures, in the order in which they run.
var measures = []struct {
	name string
	run  func(w *tabwriter.Writer, binary, root string) error
}{
	{"stdio", roundTrips}, {"start", startUp}, {"ping", pings}, {"memory", memory}, {"search", searches}, {"http", requests}, {"crowd", crowd}, {"greedy", greedy},
	{"gateway", gatewayCost}, {"wrap", wrapCost},
	{"proxy", proxied}, {"growing", growing}, {"hook", hooks},
}

func names() []string {
	var all []string
	for _, m := range measures {
		all = append(all, m.name)
	}
	return all
}

// run runs the measures in only, or all measures if only is empty.
func run(binary string, only []string) error {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "mcp-pruner-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	if err := os.WriteFile(filepath.Join(root, "small.txt"), []byte("hello\n"), 0o600); err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer w.Flush()
	for _, m := range measures {
		if len(only) > 0 && !slices.Contains(only, m.name) {
			continue
		}
		if err := m.run(w, binary, root); err != nil {
			return err
		}
		fmt.Fprintln(w)
		_ = w.Flush()
	}
	return nil
}
