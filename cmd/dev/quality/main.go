// Command quality measures the line pruner and simple baselines on a benchmark and writes the results as Markdown.
//
// A benchmark is a directory of *.jsonl or *.jsonl.gz files with one case per line:
// {"id","task","source_type","repo","question","text","gold":[lines],"meta":{"lang"}}.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

var errNoData = errors.New("where is the benchmark? give -data DIR, or set PRUNEBENCH to the directory of its *.jsonl.gz files")

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	fs := flag.NewFlagSet("quality", flag.ContinueOnError)
	data := fs.String("data", os.Getenv("PRUNEBENCH"), "directory of the benchmark")
	out := fs.String("o", "", "file to write instead of the standard output, e.g. docs/evidence/QUALITY.md")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *data == "" {
		return errNoData
	}
	cases, err := load(*data)
	if err != nil {
		return err
	}
	var page bytes.Buffer
	report(&page, cases, time.Now().UTC().Format(time.DateOnly))
	if *out == "" {
		_, err = page.WriteTo(stdout)
		return err
	}
	return os.WriteFile(*out, page.Bytes(), 0o644)
}
