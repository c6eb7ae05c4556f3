// Package tracecmd is `mcp-pruner trace`: what can be done with the trace of a
// server or runner.
package tracecmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
)

// Exit codes.
const (
	exitOK  = command.OK
	exitBad = command.Fail // the trace is not in order, or cannot be read
)

// settings are the command line, checked.
type settings struct {
	all    bool
	json   bool
	heads  string
	output string
	since  string
	filter filter
	limit  int
	files  []string
}

// Command is the verb and those below it.
func Command(p command.Process) *cobra.Command {
	c := &cobra.Command{
		Use:   "trace",
		Short: "Verify and sum up what MCP_PRUNER_TRACE recorded",
		Long: `Reads traces as MCP_PRUNER_TRACE makes them. Without FILE it is the file that
variable names; "-" is the standard input. Files that a trace was rotated into, by
the server or by others, are read from the oldest on, whatever the order of the
arguments; with a pipe among them, as they are given.

The exit status is 0 when the trace is in order, 1 when it is not or cannot be read,
and 2 for a wrong command line.`,
		Example: `  MCP_PRUNER_TRACE=trace.jsonl mcp-pruner        serve, and keep a trace
  mcp-pruner trace verify trace.jsonl
  mcp-pruner trace stats --since 24h trace.jsonl
  mcp-pruner trace report -o report.html trace.jsonl*`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Usagef("there is no command %q", args[0])
			}
			return command.Usagef("verify, heads, stats or report?")
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	c.AddCommand(verifyCommand(p), headsCommand(p), statsCommand(p), reportCommand(p))
	return c
}

func verifyCommand(p command.Process) *cobra.Command {
	var s settings
	c := verb(p, &s, runVerify, "verify [FILE...]", "Check every record and that no line was changed, taken out or put in",
		`Replays every record against the table of the version that wrote it, and checks that
no line was changed, taken out or put in.`)
	c.Flags().StringVar(&s.heads, "heads", "", "an event log or the output of trace heads, kept elsewhere: shows what was cut off or invented")
	c.Flags().BoolVar(&s.all, "all", false, "name every problem, not only the first")
	c.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return c
}

func statsCommand(p command.Process) *cobra.Command {
	var s settings
	c := verb(p, &s, runStats, "stats [FILE...]", "Requests, outcomes, latency per state, bytes and tokens saved", "")
	c.Flags().BoolVar(&s.json, "json", false, "print JSON")
	return selecting(c, &s)
}

func reportCommand(p command.Process) *cobra.Command {
	var s settings
	c := verb(p, &s, runReport, "report [FILE...]", "The same as one HTML page", "")
	c.Flags().StringVarP(&s.output, "output", "o", "report.html", `where the report goes; "-" is the standard output`)
	return selecting(c, &s)
}

// verb makes one of the verbs that read traces.
func verb(p command.Process, s *settings, run func(settings, io.Reader, io.Writer) (int, error), use, short, long string) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Long: long, RunE: func(_ *cobra.Command, files []string) error {
		if err := s.complete(p, files); err != nil {
			return command.Usagef("%w", err)
		}
		code, err := run(*s, p.Stdin, p.Stdout)
		if err != nil {
			return err
		}
		return command.Exit(code)
	}}
}

// selecting adds the flags that choose records.
func selecting(c *cobra.Command, s *settings) *cobra.Command {
	c.Flags().StringVar(&s.since, "since", "", "only what started since then: 24h, 2026-11-21 or 2026-11-21T04:00:00Z")
	c.Flags().StringVar(&s.filter.session, "session", "", "only this session")
	c.Flags().IntVar(&s.limit, "limit", 0, "bytes the client shows of one result (default: what is known of the client)")
	return c
}

func (s *settings) complete(p command.Process, files []string) error {
	if s.limit < 0 {
		return fmt.Errorf("--limit is a number of bytes, not %d", s.limit)
	}
	s.files = files
	if len(files) == 0 {
		file, _ := p.Lookup("MCP_PRUNER_TRACE")
		if file == "" {
			return errors.New("which FILE? (MCP_PRUNER_TRACE is not set either)")
		}
		s.files = []string{file}
	}
	return s.filter.from(s.since)
}

func runVerify(s settings, stdin io.Reader, stdout io.Writer) (int, error) {
	known, err := headsFrom(s.heads)
	if err != nil {
		return exitBad, err
	}
	var verified *verifier
	err = with(s.files, stdin, func(sources []source) (err error) {
		verified, err = verifySources(sources, s.all, known)
		return err
	})
	if err != nil {
		return exitBad, err
	}
	v := verified.verdict
	code := exitOK
	if !v.OK {
		code = exitBad
	}
	if s.json {
		return code, v.json(stdout)
	}
	return code, v.show(stdout)
}
