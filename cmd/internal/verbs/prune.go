package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// pruneSettings holds the validated flags and arguments.
type pruneSettings struct {
	question string
	budget   float64
	kind     lineprune.Kind
	why      bool
	json     bool
	batch    bool
	file     string // "-": standard input
}

func pruneCommand(p command.Process) *cobra.Command {
	var s pruneSettings
	c := &cobra.Command{
		Use:   "prune -q QUESTION [FILE|-]",
		Short: "Prune a file or standard input to a question",
		Long: `Prints the lines of FILE (or of the standard input) that answer QUESTION, and a
marker for every range left out. Without --budget a text that is short, or that
the question does not fit, is printed whole; a note on the standard error says so.

With --batch it reads one JSON request a line and writes one JSON answer a line.`,
		Example: `  mcp-pruner prune -q "where are retries counted" client.go
  set -o pipefail; go test ./... 2>&1 | mcp-pruner prune -q "which test failed and why"
  mcp-pruner prune -q "how do I set the timeout" --budget 20% README.md
  mcp-pruner prune -q "why was the upload rejected" --why server.log | less
  printf '%s\n' '{"question":"...","text":"...","source_type":"code","budget":0.3}' | mcp-pruner prune --batch`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.check(c.Flags(), args); err != nil {
				return command.Usagef("%w", err)
			}
			return runPrune(c.Context(), s, p.Stdin, p.Stdout, p.Stderr)
		},
	}
	f := c.Flags()
	f.StringVarP(&s.question, "question", "q", "", "what you want to know")
	f.VarP(command.Share(&s.budget), "budget", "b", "keep at most this share of the tokens, e.g. 0.3 or 30% (default: as much as seems relevant)")
	f.VarP(command.Choice(&s.kind, lineprune.Code, lineprune.Logs, lineprune.Docs, lineprune.Grep), "kind", "k", "of the text (default: detected)")
	f.BoolVar(&s.why, "why", false, "print every line with its score and why it was kept or dropped")
	f.BoolVar(&s.json, "json", false, "print what was kept as JSON")
	f.BoolVar(&s.batch, "batch", false, "one JSON request a line in, one JSON answer a line out")
	return c
}

func runPrune(ctx context.Context, s pruneSettings, stdin io.Reader, stdout, stderr io.Writer) error {
	if s.batch {
		return pruneBatch(ctx, stdin, stdout)
	}
	text, err := pruneInput(s.file, stdin)
	if err != nil {
		return err
	}
	opts := lineprune.Options{File: s.file, Budget: s.budget, Explain: s.why}
	if !s.json && s.kind != lineprune.Grep {
		opts.Marker = gapLine
	}
	res, err := lineprune.Prune(ctx, text, s.question, s.kind, opts)
	if err != nil {
		return err
	}
	return showPruned(s, text, res, stdout, stderr)
}

func (s *pruneSettings) check(flags *pflag.FlagSet, files []string) error {
	given := 0
	flags.Visit(func(*pflag.Flag) { given++ })
	if s.batch {
		if len(files) > 0 || given > 1 {
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

// maxPruneInput is the size of the longest text that is accepted.
const maxPruneInput = 64 << 20

// pruneInput reads a file or standard input. A text longer than maxPruneInput is an error.
func pruneInput(file string, stdin io.Reader) (string, error) {
	if file == "-" {
		return readLimited("the standard input", stdin)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readLimited(file, f)
}

func readLimited(name string, from io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxPruneInput+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", name, err)
	case len(raw) > maxPruneInput:
		return "", fmt.Errorf("%s is larger than 64 MiB: prune a part of it (head, tail, grep)", name)
	}
	return string(raw), nil
}
