package replay

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"mcp-pruner/cmd/internal/sessions"
)

const usage = `usage: mcp-pruner replay [flags] [PATH...]

Says what pruning and clearing would have saved and lost in sessions that already
happened. PATH is a transcript of Claude Code or Codex, a folder of them, or sessions
as JSON lines (*.jsonl, *.jsonl.gz). Without PATH: your own sessions. Nothing leaves
the machine. docs/BILL.md explains every figure.

  --policy POLICY    hook, mcp, proxy, gc or all (default all)
  --json             print one JSON value
  --html FILE        write a report with plots; - is the standard output
  --explain SESSION  show every term of one session: its id, or how that begins
  --prices LIST      prices relative to a fresh input token, e.g. "cache_read=0.25,output=4"
  -h, --help         this text

examples:
  mcp-pruner replay
  mcp-pruner replay --policy hook --html report.html ~/.claude/projects
  mcp-pruner replay --explain 062a8bdd sessions.jsonl.gz

exit status: 0 done, 1 nothing could be read, 2 wrong usage
`

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// options are the command line.
type options struct {
	Settings
	json  bool
	html  string
	paths []string
}

// Run is the verb; args come without it. It returns the exit status.
func Run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = io.WriteString(stdout, usage) // nothing to do about a closed pipe
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "mcp-pruner replay: %v\nTry 'mcp-pruner replay --help'.\n", err)
		return exitUsage
	}
	if err := o.run(ctx, env, stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "mcp-pruner replay: %v\n", err)
		return exitError
	}
	return exitOK
}

func parse(args []string) (options, error) {
	var o options
	var policy, prices string
	fs := flag.NewFlagSet("replay", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&policy, "policy", "all", "")
	fs.StringVar(&prices, "prices", "", "")
	fs.StringVar(&o.html, "html", "", "")
	fs.StringVar(&o.Explain, "explain", "", "")
	fs.BoolVar(&o.json, "json", false, "")
	for len(args) > 0 { // flags may follow paths
		if err := fs.Parse(args); err != nil {
			return o, err
		}
		if args = fs.Args(); len(args) > 0 {
			o.paths = append(o.paths, args[0])
			args = args[1:]
		}
	}
	var err error
	if o.Policies, err = policiesOf(policy); err != nil {
		return o, err
	}
	if o.json && o.Explain != "" {
		return o, errors.New("--explain is for reading; leave out --json")
	}
	o.Prices, err = ParsePrices(prices)
	return o, err
}

func policiesOf(name string) ([]Policy, error) {
	all := []Policy{Hook, MCP, Proxy, GC}
	if name == "all" {
		return all, nil
	}
	for _, p := range all {
		if string(p) == name {
			return []Policy{p}, nil
		}
	}
	return nil, fmt.Errorf("unknown policy %q: want hook, mcp, proxy, gc or all", name)
}

func (o options) run(ctx context.Context, env []string, stdout, stderr io.Writer) error {
	if err := o.find(env); err != nil {
		return err
	}
	bar := &progress{w: stderr}
	o.Progress = bar.step
	report, explained, err := Replay(ctx, o.Settings)
	bar.end()
	if err != nil {
		return err
	}
	if o.html != "" {
		if err := o.writeHTML(report, stdout); err != nil {
			return err
		}
	}
	switch {
	case o.Explain != "":
		return explain(stdout, explained, o.Policies)
	case o.json:
		return writeJSON(stdout, report)
	case o.html == "-":
		return nil
	}
	return writeText(stdout, report)
}

func (o *options) find(env []string) error {
	paths := o.paths
	if len(paths) == 0 {
		lookup := lookupIn(env)
		home, _ := lookup("HOME")
		if home == "" {
			home, _ = os.UserHomeDir()
		}
		if paths = sessions.Defaults(home, lookup); len(paths) == 0 {
			return errors.New("no sessions of Claude Code or Codex on this machine; name a file or folder")
		}
	}
	var err error
	o.Files, err = sessions.Files(paths)
	return err
}

func lookupIn(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := len(env) - 1; i >= 0; i-- {
			if value, ok := strings.CutPrefix(env[i], name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
}

func (o options) writeHTML(r Report, stdout io.Writer) error {
	if o.html == "-" {
		return writePage(stdout, r)
	}
	f, err := os.Create(o.html)
	if err != nil {
		return err
	}
	return errors.Join(writePage(f, r), f.Close())
}

// progress counts sessions on standard error, one line every so many.
type progress struct {
	w io.Writer
	n int
}

const progressEvery = 25

func (p *progress) step(string) {
	p.n++
	if p.n%progressEvery == 0 {
		fmt.Fprintf(p.w, "%d sessions\n", p.n)
	}
}

func (p *progress) end() {
	if p.n >= progressEvery {
		fmt.Fprintf(p.w, "%d sessions, done\n", p.n)
	}
}
