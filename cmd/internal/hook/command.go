package hook

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/ledger"
	"mcp-pruner/cmd/internal/originals"
)

// Command returns the verb hook.
func Command(p command.Process) *cobra.Command {
	var replaceErrors bool
	c := &cobra.Command{
		Use:   "hook claude|codex|gemini|opencode",
		Short: "Prune the result of a client's own tool (clients run this)",
		Long: `Reads a client's message about a tool that has run from the standard input and may
answer with a shorter result. On any fault it prints nothing and the exit status is 0:
the result stays as it was. "mcp-pruner init CLIENT" sets it up.`,
		Args: command.OneArgument("CLIENT"),
		RunE: func(c *cobra.Command, args []string) error {
			client, ok := find(args[0], replaceErrors)
			if !ok {
				return command.Usagef("unknown client %q: want claude, codex, gemini or opencode", args[0])
			}
			Run(c.Context(), client, p.Lookup, p.Stdin, p.Stdout)
			return nil
		},
	}
	c.Flags().BoolVar(&replaceErrors, "replace", false, "gemini: replace results although its model then sees them as errors")
	return c
}

// RecoverCommand returns the verb recover.
func RecoverCommand(p command.Process) *cobra.Command {
	var lines, pattern string
	c := &cobra.Command{
		Use:   "recover ID",
		Short: "Print what a hook or the proxy cut from an output",
		Long: `Prints the whole output that a hook or the proxy cut, or some of its lines. ID is in the
first line of the cut output. Line numbers are those that the client showed: of a file read, the
file's. Originals are kept for 7 days.`,
		Example: `  mcp-pruner recover prn_3ddf8b97
  mcp-pruner recover prn_3ddf8b97 --lines 120-154
  mcp-pruner recover prn_3ddf8b97 --pattern 'func .*Retry'`,
		Args: command.OneArgument("ID"),
		RunE: func(_ *cobra.Command, args []string) error {
			from, to, err := lineRange(lines)
			if err != nil {
				return command.Usagef("%w", err)
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return command.Usagef("--pattern: %w", err)
			}
			return recoverText(p, args[0], from, to, re)
		},
	}
	c.Flags().StringVar(&lines, "lines", "", "only these lines, e.g. 120-154, 120- or 7")
	c.Flags().StringVar(&pattern, "pattern", "", "only lines that match this regular expression, with their numbers")
	return c
}

// lineRange parses A-B, A-, -B or A. to is 0 for an open end.
func lineRange(s string) (from, to int, err error) {
	if s == "" {
		return 1, 0, nil
	}
	a, b, ranged := strings.Cut(s, "-")
	if !ranged {
		b = a
	}
	wrong := fmt.Errorf("--lines %q: want A-B, two line numbers", s)
	from = 1
	if a != "" {
		if from, err = strconv.Atoi(a); err != nil || from < 1 {
			return 0, 0, wrong
		}
	}
	if b != "" {
		if to, err = strconv.Atoi(b); err != nil || to < from {
			return 0, 0, wrong
		}
	}
	return from, to, nil
}

func recoverText(p command.Process, id string, from, to int, re *regexp.Regexp) error {
	if !originals.ID.MatchString(id) {
		return recoverSegment(p, id, from, to, re)
	}
	dir, err := originals.StateDir(p.Lookup)
	if err != nil {
		return err
	}
	whole, first, err := originals.In(dir).Get(id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return show(p.Stdout, whole, first, from, to, re)
}

// recoverSegment prints a segment of the ledger, such as a result that the proxy cleared.
func recoverSegment(p command.Process, id string, from, to int, re *regexp.Regexp) error {
	segment, whole, err := ledger.Get(p.Lookup, id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return show(p.Stdout, whole, max(segment.FirstLine, 1), from, to, re)
}

// show prints a range of lines or, with a pattern, the matching lines with numbers. first is the number of
// the text's first line.
func show(w io.Writer, whole string, first, from, to int, re *regexp.Regexp) error {
	if from == 1 && to == 0 && re.String() == "" {
		_, err := io.WriteString(w, whole)
		return err
	}
	lines := strings.SplitAfter(whole, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	last := first + len(lines) - 1
	if from > last || to != 0 && to < first {
		return fmt.Errorf("the original has the lines %d-%d", first, last)
	}
	if to == 0 || to > last {
		to = last
	}
	var out strings.Builder
	for n := max(from, first); n <= to; n++ {
		line := strings.TrimSuffix(lines[n-first], "\n")
		switch {
		case re.String() == "":
			out.WriteString(line + "\n")
		case re.MatchString(line):
			fmt.Fprintf(&out, "%d:%s\n", n, line)
		}
	}
	if out.Len() == 0 {
		return errors.New("no line matches")
	}
	_, err := io.WriteString(w, out.String())
	return err
}
