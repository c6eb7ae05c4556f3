package audit

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// stats is a form of audit.Stats for display.
type stats Stats

// WriteStats writes the stats for a terminal, starting with the verdict on the trace they are computed from.
func WriteStats(out io.Writer, of Stats) error {
	s := stats(of)
	var text bytes.Buffer
	WriteProof(&text, s.Verdict)
	fmt.Fprintln(&text)
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	s.showHead(w)
	s.showSaved(w)
	s.showTools(w)
	s.showOutcomes(w)
	s.showPruner(w)
	s.showPaths(w)
	s.showStates(w)
	_ = w.Flush() // writes to memory
	_, err := out.Write(text.Bytes())
	return err
}

func (s stats) showHead(w io.Writer) {
	fmt.Fprintf(w, "%s and %s in %s of %s", countedNoun(s.Requests, "request"), countedNoun(s.Runs, "run"), countedNoun(s.Sessions, "session"),
		countedNoun(s.Processes, "process"))
	if s.Records > 0 {
		fmt.Fprintf(w, ", %s to %s", s.From.Format(time.RFC3339), s.To.Format(time.RFC3339))
	}
	fmt.Fprintln(w)
	if s.Unreadable > 0 {
		fmt.Fprintf(w, "not counted: %s without a record; \"mcp-pruner trace verify\" says why\n", countedNoun(s.Unreadable, "line"))
	}
}

func (s stats) showSaved(w io.Writer) {
	fmt.Fprintf(w, "\nTOKENS (o200k)\n")
	fmt.Fprintf(w, "from tools\t%s\t(%s bytes)\n", terminal.Grouped(s.Tokens.Raw), terminal.Grouped(s.Bytes.Raw))
	fmt.Fprintf(w, "sent\t%s\t(%s bytes)\n", terminal.Grouped(s.Tokens.Sent), terminal.Grouped(s.Bytes.Sent))
	fmt.Fprintf(w, "pruned away\t%s\tmarkers and notes are counted as sent\n", terminal.Grouped(s.Saved.Gross))
	fmt.Fprintf(w, "not shown\t%s\tthe client would have cut these anyway\n", terminal.Grouped(-s.Saved.NotShown))
	fmt.Fprintf(w, "questions\t%s\twhat asking cost the model\n", terminal.Grouped(-s.Saved.Questions))
	fmt.Fprintf(w, "read again\t%s\t%s about what had been pruned, and what was pruned of those\n",
		terminal.Grouped(-s.Saved.Rereads-s.Saved.OfRereads), countedNoun(s.Saved.RereadsOf, "request"))
	fmt.Fprintf(w, "net saved\t%s\t%s of the %s a model would have read without pruning\n",
		terminal.Grouped(s.Saved.Net), percent(s.Saved.NetShare), terminal.Grouped(s.Saved.Without))
	if s.Tokens.Estimated > 0 {
		fmt.Fprintf(w, "\t\tof %s the tokens are estimated, within some per cent\n", countedNoun(s.Tokens.Estimated, "request"))
	}
}

func (s stats) showTools(w io.Writer) {
	fmt.Fprintf(w, "\nTOOL\trequests\tfailed\ttokens in\tsent\tnet saved\tp50\tp95\tp99\tmax\n")
	for _, t := range s.Tools {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", toolName(t.Tool), terminal.Grouped(t.Count), terminal.Grouped(t.Failed), terminal.Grouped(t.Raw), terminal.Grouped(t.Sent), terminal.Grouped(t.Net), columns(t.Latency))
	}
	fmt.Fprintf(w, "all\t%s\t\t%s\t%s\t%s\t%s\n", terminal.Grouped(s.Requests), terminal.Grouped(s.Tokens.Raw), terminal.Grouped(s.Tokens.Sent), terminal.Grouped(s.Saved.Net), columns(s.Latency))
}

func (s stats) showOutcomes(w io.Writer) {
	fmt.Fprintf(w, "\nOUTCOME\twhy\ttool\tmachine\tcount\n")
	for _, o := range s.Outcomes {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", printable(o.Outcome), orDash(printable(o.Why)), toolName(o.Tool), printable(o.Machine), terminal.Grouped(o.Count))
	}
}

func (s stats) showPruner(w io.Writer) {
	p := s.Pruner
	fmt.Fprintf(w, "\nPRUNER\tcalled %s\tapplied %s\tfailed %s\tcancelled %s\t%s\n",
		terminal.Grouped(p.Called), terminal.Grouped(p.Applied), terminal.Grouped(p.Failed), terminal.Grouped(p.Cancelled), columns(p.Latency))
	for _, reason := range slices.Sorted(maps.Keys(p.Failures)) {
		fmt.Fprintf(w, "failed\t%s\t%s\n", printable(reason), terminal.Grouped(p.Failures[reason]))
	}
	for _, reason := range slices.Sorted(maps.Keys(p.Skipped)) {
		fmt.Fprintf(w, "not called\t%s\t%s\n", printable(reason), terminal.Grouped(p.Skipped[reason]))
	}
}

func (s stats) showPaths(w io.Writer) {
	fmt.Fprintf(w, "\nPATH\tshare\t%sends in\ttriggers\n", s.machine("machine"))
	for _, p := range s.Paths {
		fmt.Fprintf(w, "%s\t%s\t%s%s\t%s\n", terminal.Grouped(p.Count), percent(p.Share), s.machine(p.Machine),
			printable(p.States[len(p.States)-1]), printable(strings.Join(p.Triggers, " ")))
	}
}

func (s stats) showStates(w io.Writer) {
	fmt.Fprintf(w, "\nTIME IN STATE\t%stimes\tp50\tp95\tp99\tmax\n", s.machine("machine"))
	for _, st := range s.States {
		fmt.Fprintf(w, "%s\t%s%s\t%s\n", printable(st.State), s.machine(st.Machine), terminal.Grouped(st.Count), columns(st.Latency))
	}
}

// machine returns a column with the machine's name, or "" if all records are of one machine.
func (s stats) machine(name string) string {
	for _, p := range s.Paths {
		if p.Machine != s.Paths[0].Machine {
			return printable(name) + "\t"
		}
	}
	return ""
}

// columns formats the four figures of a latency.
func columns(l Latency) string {
	return span(l.P50) + "\t" + span(l.P95) + "\t" + span(l.P99) + "\t" + span(l.Max)
}

// span formats a time in microseconds with at most three digits.
func span(us int64) string {
	switch {
	case us < 1000:
		return strconv.FormatInt(us, 10) + "µs"
	case us < 1_000_000:
		return digits(float64(us)/1e3) + "ms"
	default:
		return digits(float64(us)/1e6) + "s"
	}
}

func digits(f float64) string {
	switch {
	case f < 10:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case f < 100:
		return strconv.FormatFloat(f, 'f', 1, 64)
	default:
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
}

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 1, 64) + "%" }

// countedNoun formats a number with its noun.
func countedNoun(n int, thing string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(thing, "s"):
		thing += "es"
	default:
		thing += "s"
	}
	return terminal.Grouped(n) + " " + thing
}

// printable escapes text from a trace for a terminal: characters that would end a line or move the cursor
// rather than appear as themselves.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsGraphic(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
	}
	return b.String()
}

// toolName returns a tool's name in a form safe for a terminal, because a client may send any name.
func toolName(name string) string {
	switch quoted := strconv.QuoteToGraphic(name); {
	case name == "":
		return "-"
	case quoted == `"`+name+`"`:
		return name
	default:
		return quoted
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
