package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

const (
	tryResults = 20 // results that are shown
	tryLines   = 40 // lines of each
	tryColumns = 120
	tryAround  = 2 // lines that are shown at each end of a range that is not sent
)

// tryCommand returns the verb try.
func tryCommand(p command.Process) *cobra.Command {
	count, lines := tryResults, tryLines
	c := &cobra.Command{
		Use:   "try [PATH...]",
		Short: "Show your latest large results as they came and as hooks would send them",
		Long: `Reads your own recorded sessions, or those in PATH, and shows their latest large results
side by side: left as they came, right what hooks would send. A line that the agent used
later has the mark ">", and "!" if it would have been cut. Nothing is written.`,
		RunE: func(c *cobra.Command, paths []string) error {
			if count < 1 || lines < 1 {
				return command.Usagef("--results and --lines must be at least 1")
			}
			return tryRun(c.Context(), p, paths, count, lines)
		},
	}
	c.Flags().IntVar(&count, "results", count, "show at most this many results")
	c.Flags().IntVar(&lines, "lines", lines, "show at most this many lines of each")
	return c
}

func tryRun(ctx context.Context, p command.Process, paths []string, count, lines int) error {
	if len(paths) == 0 {
		var err error
		if paths, err = transcriptsOf(p.Lookup); err != nil {
			return err
		}
	}
	files, err := sessions.Files(paths)
	if err != nil {
		return err
	}
	found, err := latestCuts(ctx, files, settings.FindOtherTools(p.Lookup), count)
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("no result that hooks would cut is in the sessions of %s on this machine; name a file or folder of sessions",
			strings.Join(agent.Titles(agent.With(hasTranscripts)), " or "))
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
	out.WriteString("To turn hooks on: mcp-pruner init\n")
	_, err = io.WriteString(p.Stdout, out.String())
	return err
}

// latestCuts returns the latest results that hooks would cut, newest first. Files of sessions are read from the newest on.
func latestCuts(ctx context.Context, files []string, others history.OtherTools, count int) (found []replay.Prediction, err error) {
	changed := map[string]time.Time{}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			changed[file] = info.ModTime()
		}
	}
	slices.SortFunc(files, func(a, b string) int { return cmp.Or(changed[b].Compare(changed[a]), cmp.Compare(a, b)) })
	for _, file := range files {
		if len(found) >= count {
			break
		}
		var inFile []replay.Prediction
		err := sessions.ReadFile(ctx, file, func(s sessions.Session) error {
			list, err := replay.Predict(ctx, s, others)
			for _, one := range list {
				if one.Pruned && !one.Cut.Whole() {
					inFile = append(inFile, one)
				}
			}
			inFile = inFile[max(len(inFile)-count, 0):]
			return err
		})
		if err != nil && ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		slices.Reverse(inFile) // lines that cannot be read cost only themselves
		found = append(found, inFile...)
	}
	return found[:min(len(found), count)], nil
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
		fmt.Fprintf(w, "  %s %s | %s\n", mark, paddedLine(cleanLine(s.Body.Lines[n-1], s.width), s.width), right)
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

func paddedLine(text string, width int) string {
	return text + strings.Repeat(" ", max(width-len([]rune(text)), 0))
}
