// Package tracecmd is `mcp-pruner trace`: what can be done with the trace of a
// server or runner.
package tracecmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Exit codes.
const (
	exitOK    = 0
	exitBad   = 1 // the trace is not in order, or cannot be read
	exitUsage = 2
)

const usage = `usage: mcp-pruner trace verify [--all] [--json] [FILE...]
       mcp-pruner trace stats  [--json] [--since T] [--session ID] [--limit BYTES] [FILE...]
       mcp-pruner trace report [-o report.html] [--since T] [--session ID] [--limit BYTES] [FILE...]

Reads traces as MCP_PRUNER_TRACE makes them. Without FILE it is the file that
variable names; "-" is the standard input. Files that a trace was rotated into, by
the server or by others, are read from the oldest on, whatever the order of the
arguments; with a pipe among them, as they are given.

  verify   replay every record against the table of the version that wrote it, and
           check that no line was changed, taken out or put in
  stats    requests, outcomes, ways, latency per state, bytes and tokens saved
  report   the same as one HTML page

  --all            name every problem, not only the first
  --json           print JSON
  --since T        only what started since T: 24h, 2026-11-21 or 2026-11-21T04:00:00Z
  --session ID     only this session
  --limit BYTES    what the client shows of one result (default: what is known of the client)
  -o FILE          where the report goes; "-" is the standard output

examples:
  MCP_PRUNER_TRACE=trace.jsonl mcp-pruner        serve, and keep a trace
  mcp-pruner trace verify trace.jsonl
  mcp-pruner trace stats --since 24h trace.jsonl
  mcp-pruner trace report -o report.html trace.jsonl*

exit status: 0 in order, 1 not in order or cannot be read, 2 wrong usage
`

// settings are the command line, checked.
type settings struct {
	all    bool
	json   bool
	output string
	filter filter
	limit  int
	files  []string
}

// Run is the verb; args come without it. It returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		return wrong(stderr, errors.New("verify, stats or report?"))
	}
	verb, ok := map[string]func(settings, io.Reader, io.Writer) (int, error){
		"verify": runVerify, "stats": runStats, "report": runReport,
	}[args[0]]
	if !ok && !slices.Contains([]string{"-h", "--help", "help"}, args[0]) {
		return wrong(stderr, fmt.Errorf("there is no %q", args[0]))
	}
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, usage) // nothing to do about a closed pipe
		return exitOK
	}
	if err != nil {
		return wrong(stderr, err)
	}
	code, err := verb(s, stdin, stdout)
	if err != nil {
		fmt.Fprintf(stderr, "mcp-pruner trace %s: %v\n", args[0], err)
		return exitBad
	}
	return code
}

func wrong(stderr io.Writer, err error) int {
	fmt.Fprintf(stderr, "mcp-pruner trace: %v\nTry 'mcp-pruner trace --help'.\n", err)
	return exitUsage
}

func parse(args []string) (settings, error) {
	s := settings{output: "report.html"}
	if args[0] == "help" || strings.HasPrefix(args[0], "-") {
		return s, flag.ErrHelp
	}
	fs := flag.NewFlagSet("trace", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	since := ""
	switch args[0] {
	case "verify":
		fs.BoolVar(&s.all, "all", false, "")
		fs.BoolVar(&s.json, "json", false, "")
	case "stats":
		fs.BoolVar(&s.json, "json", false, "")
	case "report":
		fs.StringVar(&s.output, "o", s.output, "")
	}
	if args[0] != "verify" {
		fs.StringVar(&since, "since", "", "")
		fs.StringVar(&s.filter.session, "session", "", "")
		fs.IntVar(&s.limit, "limit", 0, "")
	}
	for rest := args[1:]; ; rest = fs.Args()[1:] { // flags may follow files
		if err := fs.Parse(rest); err != nil {
			return s, err
		}
		if fs.NArg() == 0 {
			break
		}
		s.files = append(s.files, fs.Arg(0))
	}
	return s, s.complete(since)
}

func (s *settings) complete(since string) error {
	if s.limit < 0 {
		return fmt.Errorf("--limit is a number of bytes, not %d", s.limit)
	}
	if len(s.files) == 0 {
		file := os.Getenv("MCP_PRUNER_TRACE")
		if file == "" {
			return errors.New("which FILE? (MCP_PRUNER_TRACE is not set either)")
		}
		s.files = []string{file}
	}
	return s.filter.from(since)
}

func runVerify(s settings, stdin io.Reader, stdout io.Writer) (int, error) {
	var v verdict
	err := with(s.files, stdin, func(sources []source) (err error) {
		v, err = verify(sources, s.all)
		return err
	})
	if err != nil {
		return exitBad, err
	}
	code := exitOK
	if !v.OK {
		code = exitBad
	}
	if s.json {
		return code, v.json(stdout)
	}
	return code, v.show(stdout)
}
