// Package prunecmd is `mcp-pruner prune`: the line pruner on the command line.
package prunecmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"mcp-pruner/pruneclient/lineprune"
)

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

const usage = `usage: mcp-pruner prune -q QUESTION [flags] [FILE|-]

Prints the lines of FILE (or of the standard input) that answer QUESTION, and a
marker for every range left out. Without --budget a text that is short, or that
the question does not fit, is printed whole; a note on the standard error says so.

  -q, --question TEXT  what you want to know
  -b, --budget SHARE   keep at most this share of the tokens, e.g. 0.3 (default: as much as seems relevant)
  -k, --kind KIND      code, logs, docs or grep (default: detected)
      --why            print every line with its score and why it was kept or dropped
      --json           print what was kept as JSON
      --batch          one JSON request a line in, one JSON answer a line out
  -h, --help           this text

examples:
  mcp-pruner prune -q "where are retries counted" client.go
  go test ./... 2>&1 | mcp-pruner prune -q "which test failed and why"
  mcp-pruner prune -q "how do I set the timeout" --budget 0.2 README.md
  mcp-pruner prune -q "why was the upload rejected" --why server.log | less
  printf '%s\n' '{"question":"...","text":"...","source_type":"code","budget":0.3}' | mcp-pruner prune --batch

exit status: 0 done, 1 could not read or write, 2 wrong usage
`

// settings are the command line, checked.
type settings struct {
	question string
	budget   float64
	kind     lineprune.Kind
	why      bool
	json     bool
	batch    bool
	file     string // "-" is the standard input
}

// Run is the verb; args come without it. It returns the exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(stdout, usage) // nothing to do about a closed pipe
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "mcp-pruner prune: %v\nTry 'mcp-pruner prune --help'.\n", err)
		return exitUsage
	}
	if err := run(ctx, s, stdin, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "mcp-pruner prune: %v\n", err)
		return exitError
	}
	return exitOK
}

func run(ctx context.Context, s settings, stdin io.Reader, stdout, stderr io.Writer) error {
	if s.batch {
		return batch(ctx, stdin, stdout)
	}
	text, err := input(s.file, stdin)
	if err != nil {
		return err
	}
	opts := lineprune.Options{File: s.file, Budget: s.budget, Explain: s.why}
	if !s.json && s.kind != lineprune.Grep {
		opts.Marker = lineprune.ShortMarker
	}
	res, err := lineprune.Prune(ctx, text, s.question, s.kind, opts)
	if err != nil {
		return err
	}
	return show(s, text, res, stdout, stderr)
}

func parse(args []string) (settings, error) {
	var s settings
	var kind string
	fs := flag.NewFlagSet("prune", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, name := range []string{"q", "question"} {
		fs.StringVar(&s.question, name, "", "")
	}
	for _, name := range []string{"b", "budget"} {
		fs.Float64Var(&s.budget, name, 0, "")
	}
	for _, name := range []string{"k", "kind"} {
		fs.StringVar(&kind, name, "", "")
	}
	fs.BoolVar(&s.why, "why", false, "")
	fs.BoolVar(&s.json, "json", false, "")
	fs.BoolVar(&s.batch, "batch", false, "")
	rest, err := parseAnywhere(fs, args)
	if err != nil {
		return s, err
	}
	s.kind = lineprune.Kind(kind)
	return s, s.check(fs, rest)
}

// parseAnywhere lets flags follow the file name.
func parseAnywhere(fs *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		if len(args) > fs.NArg() && args[len(args)-fs.NArg()-1] == "--" {
			return append(rest, fs.Args()...), nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

func (s *settings) check(fs *flag.FlagSet, files []string) error {
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := checkKind(s.kind); err != nil {
		return err
	}
	if given["b"] || given["budget"] {
		if err := checkBudget(s.budget); err != nil {
			return err
		}
	}
	if s.batch {
		if len(files) > 0 || len(given) > 1 {
			return errors.New("--batch takes everything from its requests, no other flag and no file")
		}
		return nil
	}
	if strings.TrimSpace(s.question) == "" {
		return errors.New("a question is needed: -q \"what you want to know\"")
	}
	if s.json && s.why {
		return errors.New("--json and --why are two forms of output; choose one")
	}
	if len(files) > 1 {
		return fmt.Errorf("one file at a time, not %d", len(files))
	}
	s.file = "-"
	if len(files) == 1 {
		s.file = files[0]
	}
	return nil
}

func checkKind(kind lineprune.Kind) error {
	switch kind {
	case lineprune.Auto, lineprune.Code, lineprune.Logs, lineprune.Docs, lineprune.Grep:
		return nil
	}
	return fmt.Errorf("unknown kind %q (code, logs, docs or grep)", kind)
}

func checkBudget(share float64) error {
	if share > 0 && share <= 1 {
		return nil
	}
	return fmt.Errorf("a budget is a share above 0 and up to 1, not %v", share)
}

func input(file string, stdin io.Reader) (string, error) {
	if file == "-" {
		b, err := io.ReadAll(stdin)
		if err != nil {
			return "", fmt.Errorf("read the standard input: %w", err)
		}
		return string(b), nil
	}
	b, err := os.ReadFile(file)
	return string(b), err
}
