package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

const (
	tryLines   = 40 // lines of a result that are shown
	tryColumns = 120
	tryAround  = 2 // lines that are shown at each end of a range that is not sent
)

func tryCommand(p command.Process) *cobra.Command {
	count, lines := 0, tryLines
	c := &cobra.Command{
		Use:   "try [PATH...]",
		Short: "Say what of mcp-pruner would have paid in your latest sessions",
		Long: `Reads your latest recorded sessions, or those in PATH, and says what clearing, prefix and
hooks would have saved of their whole bill: with misses paid once, in brackets twice, and
how many sessions would have cost more. --results shows what hooks would have cut, side by
side: left as it came, right as sent. A line that the agent used later has the mark ">",
and "!" if it would have been cut. Nothing is written, and nothing leaves the machine.`,
		RunE: func(c *cobra.Command, paths []string) error {
			if count < 0 || lines < 1 {
				return command.Usagef("--results and --lines must be at least 1")
			}
			if len(paths) == 0 {
				var err error
				if paths, err = initcmd.Transcripts(p.Lookup); err != nil {
					return err
				}
			}
			if count > 0 {
				return trySides(c.Context(), p, paths, count, lines)
			}
			return tryParts(c.Context(), p, paths)
		},
	}
	c.Flags().IntVar(&count, "results", count, "show this many of the latest results that hooks would cut")
	c.Flags().IntVar(&lines, "lines", lines, "show at most this many lines of each")
	return c
}

// tryExamples is the number of the best cuts that are named, and of the worst.
const tryExamples = 2

// tryParts says what each part of the program would have saved.
func tryParts(ctx context.Context, p command.Process, paths []string) error {
	command.BoundMemory(p.Lookup, replayMemory)
	advice, cuts, skipped, err := initcmd.Advise(ctx, p, paths)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		_, _ = fmt.Fprintln(p.Stderr, "left out:", s)
	}
	var out strings.Builder
	out.WriteString("Saved of the whole bill, misses paid (in brackets: twice), and the sessions that lose:\n")
	for _, a := range advice {
		initcmd.WriteAdvice(&out, a)
	}
	if slices.ContainsFunc(advice, func(a replay.Advice) bool { return len(a.Offers) > 0 }) {
		out.WriteString(initcmd.Estimated + "\n")
	}
	for i, e := range cuts[:min(tryExamples, len(cuts))] {
		fmt.Fprintf(&out, "%s %s\n", []string{"Best cut:", "         "}[min(i, 1)], cleanLine(e.String(), exampleWidth))
	}
	for i := range tryExamples {
		if at := len(cuts) - 1 - i; at >= tryExamples && cuts[at].Net < 0 {
			fmt.Fprintf(&out, "%s %s\n", []string{"Worst:   ", "         "}[min(i, 1)], cleanLine(cuts[at].String(), exampleWidth))
		}
	}
	if len(cuts) > 0 {
		out.WriteString("Side by side, the latest: mcp-pruner try --results 20\n")
	}
	_, err = io.WriteString(p.Stdout, out.String())
	return err
}

// exampleWidth limits the line that names an example.
const exampleWidth = 200

// trySides shows the latest cuts side by side.
func trySides(ctx context.Context, p command.Process, paths []string, count, lines int) error {
	files, err := initcmd.Latest(paths)
	if err != nil {
		return err
	}
	found, err := replay.LatestCuts(ctx, files, settings.FindOtherTools(p.Lookup), count)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return errors.New("no result that hooks would cut is in these sessions")
	}
	var out strings.Builder
	whole, sent, missed := 0, 0, 0
	for i, one := range found {
		side := newTrySide(one, terminalColumns(p))
		fmt.Fprintf(&out, "%d  %s\n", i+1, side.title())
		side.write(&out, lines)
		out.WriteByte('\n')
		whole, sent, missed = whole+side.whole, sent+side.sent, missed+side.missed
	}
	fmt.Fprintf(&out, "%s: %d tokens as they came, %d as hooks would send them (%.0f %%). ",
		terminal.Count(len(found), "result"), whole, sent, 100*float64(sent)/float64(max(whole, 1)))
	if missed == 0 {
		out.WriteString("Nothing that was used later would have been cut.\n")
	} else {
		fmt.Fprintf(&out, "%d %s used later would have been cut: the agent would have had to bring it back.\n", missed, terminal.Plural(missed, "line that was", "lines that were"))
	}
	_, err = io.WriteString(p.Stdout, out.String())
	return err
}

// terminalColumns returns the width of the terminal, as far as the environment tells it.
func terminalColumns(p command.Process) int {
	v, _ := p.Lookup("COLUMNS")
	if n, err := strconv.Atoi(v); err == nil && n >= 40 {
		return n
	}
	return tryColumns
}

// trySide is one result in two columns.
type trySide struct {
	replay.Prediction
	width       int // of a column
	kept        map[int]bool
	whole, sent int // tokens
	missed      int // lines that were used later and are cut
}

func newTrySide(p replay.Prediction, columns int) trySide {
	s := trySide{Prediction: p, width: (columns - 7) / 2, kept: map[int]bool{}}
	for _, n := range p.Cut.Kept {
		s.kept[n] = true
	}
	for n := range p.Needed {
		if !s.kept[n] {
			s.missed++
		}
	}
	s.whole = tokens.Claude(p.Body.Text())
	s.sent = tokens.Claude(existing.Sent(p.Body, p.Cut, p.Body.NumberedByClaude(), existing.ExampleWay))
	return s
}

// title names the call and the sizes.
func (s trySide) title() string {
	about := cmp.Or(s.Call.File, s.Call.Pattern, s.Call.Command)
	return fmt.Sprintf("%s %s: %d lines, %d tokens; sent %d lines, %d tokens; used later %d, of these cut %d",
		s.Call.Tool, cleanLine(about, s.width), s.Cut.Total, s.whole, len(s.Cut.Kept), s.sent, len(s.Needed), s.missed)
}

// write prints the lines side by side. Of a range that is not sent it shows the ends, and lines that were used later.
func (s trySide) write(w *strings.Builder, most int) {
	printed := 0
	for n := 1; n <= s.Cut.Total && printed < most; n++ {
		if end := s.gapFrom(n); end-n > 2*tryAround && !s.ends(n) {
			fmt.Fprintf(w, "    %-*s | %s\n", s.width, fmt.Sprintf("(%d lines)", end-n), fmt.Sprintf("... %d lines not sent", end-n))
			n = end - 1
			printed++
			continue
		}
		mark, right := " ", ""
		switch {
		case s.Needed[n] && s.kept[n]:
			mark = ">"
		case s.Needed[n]:
			mark = "!"
		}
		if s.kept[n] {
			right = cleanLine(s.Body.Lines[n-1], s.width)
		}
		fmt.Fprintf(w, "  %s %-*s | %s\n", mark, s.width, cleanLine(s.Body.Lines[n-1], s.width), right)
		printed++
	}
	if printed == most {
		w.WriteString("    ...\n")
	}
}

// ends reports whether a line that is not sent is near a line that is.
func (s trySide) ends(n int) bool {
	for d := 1; d <= tryAround; d++ {
		if s.kept[n-d] || n-d == 0 {
			return true
		}
	}
	return false
}

// gapFrom returns the line after a range that is neither sent nor used later, without the last lines of the range.
func (s trySide) gapFrom(n int) int {
	end := n
	for end <= s.Cut.Total && !s.kept[end] && !s.Needed[end] {
		end++
	}
	return max(end-tryAround, n)
}

// cleanLine returns the beginning of a line without control characters, which a terminal would obey.
func cleanLine(line string, width int) string {
	var b strings.Builder
	n := 0
	for _, r := range line {
		switch {
		case r == '\t':
			r = ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2066' || r == '\u2067':
			r = '?'
		}
		if n++; n > width {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
