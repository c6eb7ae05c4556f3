package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// Exit codes.
const (
	traceOK      = command.OK
	traceInvalid = command.Fail // the trace is invalid or cannot be read

	traceUnproved = 3 // nothing wrong was found, but the heads do not prove everything
)

// traceSettings are the checked command-line options.
type traceSettings struct {
	all          bool
	json, csv    bool
	heads        string
	output       string
	since, until string
	selection    audit.Selection
	files        []string
	store        string
	database     assemble.Place // Shared: the traces of replicas are read there
}

// traceCommand returns the verb trace with its sub-verbs.
func traceCommand(p command.Process) *cobra.Command {
	var s traceSettings
	c := &cobra.Command{
		Use:   "trace [FILE...]",
		Short: "Verify and sum up what MCP_PRUNER_TRACE recorded",
		Long: `Reads traces as MCP_PRUNER_TRACE makes them. Without FILE it is the file that
variable names; "-" is the standard input. With --store it is the database of a team,
in which the replicas keep theirs. Without a verb it lists the records, one a line, for
people, or as CSV or JSON; the verdict then goes to the standard error. Files that a trace was rotated into, by
the server or by others, are read from the oldest on, whatever the order of the
arguments.

The exit status is 0 when the trace is in order, 1 when it is not or cannot be read,
and 2 for a wrong command line. With --heads it is 3 when nothing wrong was found, but
a process was killed or still runs, so that its last lines could be missing.`,
		Example: `  MCP_PRUNER_TRACE=trace.jsonl mcp-pruner        serve, and keep a trace
  mcp-pruner trace verify trace.jsonl
  mcp-pruner trace stats --since 24h trace.jsonl
  mcp-pruner trace --tool bash --csv trace.jsonl
  mcp-pruner trace report -o report.html trace.jsonl*`,
	}
	for _, child := range []*cobra.Command{verifyTraceCommand(p, &s), traceHeadsCommand(p, &s)} {
		c.AddCommand(readsAll(child))
	}
	c.AddCommand(traceStatsCommand(p, &s), reportTraceCommand(p, &s))
	command.Bare(c, listTraceCommand(p, &s))
	f := c.PersistentFlags()
	f.StringVar(&s.store, "store", "", "the database, without its password (default: MCP_PRUNER_STORE, if MCP_PRUNER_TRACE names no file)")
	f.StringVar(&s.heads, "heads", "", "an event log or the output of trace heads, kept elsewhere: shows what was cut off or invented")
	selectingRecords(f, &s)
	return c
}

// readsAll makes a verb refuse the flags that select records.
func readsAll(c *cobra.Command) *cobra.Command {
	c.PreRunE = func(c *cobra.Command, _ []string) (err error) {
		var selection pflag.FlagSet
		selectingRecords(&selection, new(traceSettings))
		selection.VisitAll(func(f *pflag.Flag) {
			if c.Flags().Changed(f.Name) {
				err = command.Usagef("--%s selects records to show; trace %s reads all of them", f.Name, c.Name())
			}
		})
		return err
	}
	return c
}

func verifyTraceCommand(p command.Process, s *traceSettings) *cobra.Command {
	c := traceVerb(p, s, showTraceVerdict, "verify [FILE...]", "Check every record and that no line was changed, taken out or put in",
		`Replays every record against the table that it names, and checks that
no line was changed, taken out or put in.`)
	c.Flags().BoolVar(&s.all, "all", false, "name every problem, not only the first")
	c.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return c
}

func traceHeadsCommand(p command.Process, s *traceSettings) *cobra.Command {
	return traceVerb(p, s, showTraceHeads, "heads [FILE...]", "Print the state of each process' chain, to be kept elsewhere",
		`Prints a JSON line for each process in the trace: how many lines it wrote, the hash of
the last, and the key of the next seal. Kept where the audited agent cannot write, they
show later that nothing was cut off or put in its place: trace verify --heads. A server
reports its heads in its event log at start, with every batch of lines and at its end.`)
}

const traceSelects = `Verifies the trace first and shows the verdict; the exit status is 1 when the trace is
not in order.`

func traceStatsCommand(p command.Process, s *traceSettings) *cobra.Command {
	c := traceVerb(p, s, showTraceStats, "stats [FILE...]", "Requests, outcomes, latency per state, bytes and tokens saved", traceSelects)
	c.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return c
}

func listTraceCommand(p command.Process, s *traceSettings) *cobra.Command {
	c := traceVerb(p, s, listTrace, "list [FILE...]", "", "")
	c.Flags().BoolVar(&s.json, "json", false, "print one JSON array, with a record a line")
	c.Flags().BoolVar(&s.csv, "csv", false, "print CSV, with the names of the columns first")
	return c
}

func reportTraceCommand(p command.Process, s *traceSettings) *cobra.Command {
	c := traceVerb(p, s, reportTrace, "report [FILE...]", "The same as one HTML page", traceSelects)
	c.Flags().StringVarP(&s.output, "output", "o", "report.html", `where the report goes; "-" is the standard output`)
	return c
}

// maxTraceRows is the number of records, the latest ones, that a report lists one by one. Its figures cover all records.
const maxTraceRows = 100_000

// traceMemory is the soft limit of the garbage collector in bytes. With it, a trace of any size takes less
// than 200 MiB.
const traceMemory = 150 << 20

// traceVerb returns one of the verbs that read traces.
func traceVerb(p command.Process, s *traceSettings, show func(command.Process, traceSettings, *audit.Trace) error, use, short, long string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, RunE: func(c *cobra.Command, files []string) error {
		if err := s.complete(p, files); err != nil {
			return command.Usagef("%w", err)
		}
		if limit := debug.SetMemoryLimit(-1); limit > traceMemory { // GOMEMLIMIT may set a lower limit
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(traceMemory))
		}
		s.all = s.all || c.Flags().Lookup("all") == nil // only verify may stop at the first problem
		code := traceOK
		err := s.verified(p.Stdin, func(t *audit.Trace) error {
			code = traceExit(t.Verdict())
			return show(p, *s, t)
		})
		if err != nil || c.Name() == "heads" { // prints heads that are to be compared later
			return err
		}
		return command.Exit(code)
	}}
}

func selectingRecords(f *pflag.FlagSet, s *traceSettings) {
	f.StringVar(&s.since, "since", "", "only what started since then: 24h, 2026-11-21 or 2026-11-21T04:00:00Z")
	f.StringVar(&s.until, "until", "", "only what started before then")
	f.StringVar(&s.selection.Session, "session", "", "only this session")
	f.StringVar(&s.selection.Tool, "tool", "", "only calls of this tool")
	f.StringVar(&s.selection.Client, "client", "", "only what this client asked for")
	f.StringVar(&s.selection.Owner, "subject", "", "only what this subject asked for")
	f.StringVar(&s.selection.Run, "run", "", "only this run and what its servers were asked for")
	f.IntVar(&s.selection.Limit, "limit", 0, "bytes the client shows of one result (default: what is known of the client)")
}

func (s *traceSettings) complete(p command.Process, files []string) error {
	if s.selection.Limit < 0 {
		return fmt.Errorf("--limit is a number of bytes, not %d", s.selection.Limit)
	}
	if s.json && s.csv {
		return errors.New("--json or --csv?")
	}
	if err := s.locate(p, files); err != nil {
		return err
	}
	for flag, bound := range map[string]*time.Time{"since": &s.selection.Since, "until": &s.selection.Until} {
		text := map[string]string{"since": s.since, "until": s.until}[flag]
		if text == "" {
			continue
		}
		var err error
		if *bound, err = audit.ParseTime(text, time.Now()); err != nil {
			return fmt.Errorf("--%s %w", flag, err)
		}
	}
	return nil
}

// locate finds the trace: the files that are given, else the database that --store names, else the file or the database
// that the environment names.
func (s *traceSettings) locate(p command.Process, files []string) (err error) {
	s.files = files
	if len(files) > 0 {
		if s.store != "" {
			return errors.New("--store or FILE?")
		}
		return nil
	}
	if file, _ := p.Lookup("MCP_PRUNER_TRACE"); file != "" && s.store == "" {
		s.files = []string{file}
		return nil
	}
	s.database, err = assemble.Locate(s.store, "", "", p.Lookup)
	if err == nil && !s.database.Shared() {
		err = errors.New("which FILE? (neither MCP_PRUNER_TRACE is set, nor a database)")
	}
	if err == nil {
		s.files = []string{store.Redact(s.database.Database.Name)} // for the report
	}
	return err
}

// verified verifies the trace and calls use with it while its files are open.
func (s traceSettings) verified(stdin io.Reader, use func(*audit.Trace) error) error {
	known, err := headsFrom(s.heads, stdin)
	if err != nil {
		return err
	}
	verify := func(sources []*audit.Source) error {
		t, err := audit.Verify(sources, audit.Options{All: s.all, Heads: known})
		if err != nil {
			return err
		}
		return use(t)
	}
	if !s.database.Shared() {
		return audit.Open(s.files, stdin, verify)
	}
	return openReplicas(s.database, func(sources []*audit.Source, heads *bytes.Buffer) error {
		if known == nil && heads.Len() > 0 { // those in the database count without others
			if known, err = audit.ReadHeads(heads); err != nil {
				return err
			}
		}
		return verify(sources)
	})
}

// openReplicas calls use with the traces and the heads in a database.
func openReplicas(place assemble.Place, use func([]*audit.Source, *bytes.Buffer) error) error {
	db, err := assemble.OpenDatabase(place, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	lines, out := io.Pipe()
	defer lines.Close()
	var heads bytes.Buffer
	go func() { out.CloseWithError(store.ReadTraces(context.Background(), db, out, &heads)) }()
	return audit.OpenPipe(db.Name(), lines, func(sources []*audit.Source) error { return use(sources, &heads) })
}

func headsFrom(file string, stdin io.Reader) (*audit.Heads, error) {
	switch file {
	case "":
		return nil, nil
	case "-":
		return audit.ReadHeads(stdin)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, err := audit.ReadHeads(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return h, nil
}

func traceExit(v audit.Verdict) int {
	switch {
	case !v.OK:
		return traceInvalid
	case v.Heads && v.Unproved > 0:
		return traceUnproved
	}
	return traceOK
}

func showTraceVerdict(p command.Process, s traceSettings, t *audit.Trace) error {
	if s.json {
		return writeJSON(p.Stdout, t.Verdict(), false)
	}
	return audit.WriteVerdict(p.Stdout, t.Verdict())
}

func showTraceHeads(p command.Process, _ traceSettings, t *audit.Trace) error {
	e := json.NewEncoder(p.Stdout)
	for _, h := range t.Heads() {
		if err := e.Encode(h); err != nil {
			return err
		}
	}
	if !t.Verdict().OK {
		return errors.New(`the trace is not in order, "trace verify" says why`)
	}
	return nil
}

func showTraceStats(p command.Process, s traceSettings, t *audit.Trace) error {
	c, err := t.Summarize(s.selection, nil)
	switch {
	case err != nil:
		return err
	case s.json:
		return writeJSON(p.Stdout, c.Stats, false)
	}
	return audit.WriteStats(p.Stdout, c.Stats)
}

func listTrace(p command.Process, s traceSettings, t *audit.Trace) error {
	format := audit.ListText
	switch {
	case s.json:
		format = audit.ListJSON
	case s.csv:
		format = audit.ListCSV
	}
	if err := audit.WriteList(p.Stdout, t, s.selection, format); err != nil {
		return err
	}
	audit.WriteProof(p.Stderr, t.Verdict())
	return nil
}

func reportTrace(p command.Process, s traceSettings, t *audit.Trace) error {
	var html bytes.Buffer
	stats, err := audit.WritePage(&html, t, s.selection, s.files, maxTraceRows)
	if err != nil {
		return err
	}
	if s.output == "-" {
		_, err = p.Stdout.Write(html.Bytes())
		return err
	}
	if err := os.WriteFile(s.output, html.Bytes(), 0o600); err != nil {
		return err
	}
	return audit.WritePageNote(p.Stdout, s.output, stats, html.Len())
}
