package verbs

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/page"
)

// replayOptions are the checked command-line options.
type replayOptions struct {
	replay.Settings
	json  bool
	html  string
	paths []string
}

func replayCommand(p command.Process) *cobra.Command {
	var o replayOptions
	policy, prices := replay.All, ""
	c := &cobra.Command{
		Use:   "replay [PATH...]",
		Short: "Say what pruning would have saved and lost in your own sessions",
		Long: `Says what pruning and clearing would have saved and lost in sessions that already
happened. PATH is a transcript of Claude Code or Codex, a database of opencode, a
folder of these, or sessions as JSON lines (*.jsonl, *.jsonl.gz); "-" is the standard
input. Without PATH: your own sessions. Nothing leaves the machine. docs/evidence/BILL.md
explains every figure.`,
		Example: `  mcp-pruner replay
  mcp-pruner replay --policy hook --html report.html ~/.claude/projects
  mcp-pruner replay --explain 062a8bdd sessions.jsonl.gz`,
		RunE: func(c *cobra.Command, paths []string) error {
			var err error
			if prices == listPrices {
				return writeModels(p.Stdout)
			}
			if o.Prices, err = sessions.ParsePrices(prices); err != nil {
				return command.Usagef("%w", err)
			}
			if o.json && o.Explain != "" {
				return command.Usagef("--explain is for reading; leave out --json")
			}
			if o.html == "-" && (o.json || o.Explain != "") {
				return command.Usagef("--html - prints the report; leave out --json and --explain, or name a file")
			}
			o.paths, o.Policies, o.Stdin, o.Others = paths, policiesOf(policy), p.Stdin, settings.FindOtherTools(p.Lookup)
			return o.run(c.Context(), p)
		},
	}
	f := c.Flags()
	f.Var(command.Choice(&policy, replay.Hook, replay.MCP, replay.Proxy, replay.GC, replay.Context, replay.Both, replay.All),
		"policy", "what stands between tool and model; all: each by itself, and together")
	f.BoolVar(&o.json, "json", false, "print one JSON value")
	f.StringVar(&o.html, "html", "", "write a report with plots to this file; - is the standard output")
	f.StringVar(&o.Explain, "explain", "", "show every term of one session: its id, or how that begins")
	f.StringVar(&prices, "prices", "", `prices relative to a fresh input token instead of the model's, e.g. "cache_read=0.25,output=4"; "list" prints those of all models`)
	return c
}

// listPrices is the value of --prices that prints the table.
const listPrices = "list"

func policiesOf(name replay.Policy) []replay.Policy {
	if name == replay.All {
		return replay.Policies()
	}
	return []replay.Policy{name}
}

// replayMemory is the size in bytes above which a replay collects its garbage often.
const replayMemory = 1 << 30

func (o replayOptions) run(ctx context.Context, p command.Process) error {
	command.BoundMemory(p.Lookup, replayMemory)
	if err := o.find(p); err != nil {
		return err
	}
	bar := &replayProgress{w: p.Stderr}
	o.Progress = bar.step
	report, explained, err := replay.Replay(ctx, o.Settings)
	bar.end()
	if err != nil {
		return err
	}
	if o.html != "" {
		if err := o.writeHTML(report, p.Stdout); err != nil {
			return err
		}
	}
	switch {
	case o.Explain != "":
		return explained.Explain(p.Stdout, o.Policies)
	case o.json:
		return writeJSON(p.Stdout, report, true)
	case o.html == "-":
		return nil
	}
	return writeReplay(p.Stdout, report)
}

func (o *replayOptions) find(p command.Process) (err error) {
	if len(o.paths) == 0 {
		if o.paths, err = initcmd.Transcripts(p.Lookup); err != nil {
			return err
		}
	}
	o.Files, err = sessions.Files(o.paths)
	return err
}

func (o replayOptions) writeHTML(r replay.Report, stdout io.Writer) error {
	return page.File{Name: o.html, Stdout: stdout}.Write(page.Model{Title: "mcp-pruner replay", Replay: r.Tab()})
}

// replayProgress prints a line on standard error per given number of sessions.
type replayProgress struct {
	w io.Writer
	n int
}

const progressEvery = 25

func (p *replayProgress) step(string) {
	p.n++
	if p.n%progressEvery == 0 {
		fmt.Fprintf(p.w, "%d sessions\n", p.n)
	}
}

func (p *replayProgress) end() {
	if p.n >= progressEvery {
		fmt.Fprintf(p.w, "%d sessions, done\n", p.n)
	}
}
