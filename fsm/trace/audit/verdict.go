package audit

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// WriteVerdict writes a verdict for a terminal.
func WriteVerdict(out io.Writer, v Verdict) error {
	var page bytes.Buffer
	for _, n := range v.Notes {
		fmt.Fprintln(&page, "note: "+printable(n))
	}
	for _, p := range v.Problems {
		fmt.Fprintln(&page, "BAD: "+printable(p))
	}
	if more := v.Found - len(v.Problems); more > 0 {
		fmt.Fprintf(&page, "BAD: and %s more\n", terminal.Grouped(more))
	}
	fmt.Fprintln(&page, verdictLine(v))
	if v.OK && !v.Heads && v.Unproved > 0 {
		fmt.Fprintf(&page, "note: %s (--heads): lines cut off the end of %s would not show\n", withoutHeads, countedNoun(v.Unproved, "process"))
	}
	_, err := out.Write(page.Bytes())
	return err
}

func verdictLine(v Verdict) string {
	switch {
	case v.OK && v.Records == 0:
		return "ok, but empty: there is no record in it, so nothing was verified"
	case v.OK:
		return fmt.Sprintf("ok: %s; every one replays against its table, and from the first to the last line here of each process "+
			"none is changed or missing", verifiedText(v))
	}
	return "failed: read " + verifiedText(v)
}

func verifiedText(v Verdict) string {
	text := countedNoun(v.Records, "record")
	if v.Records > 0 {
		text += fmt.Sprintf(" (%s) of %s, %s to %s", byKind(v.Machines), countedNoun(v.Writers, "process"),
			v.First.Format(time.RFC3339), v.Last.Format(time.RFC3339))
	}
	return text
}

// byKind formats the number of items of each kind.
func byKind(of map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, fmt.Sprintf("%s %s", orDash(printable(name)), terminal.Grouped(of[name])))
	}
	return strings.Join(list, ", ")
}

// WriteProof writes the basis of the figures: the verdict, the files it covers, and the versions of the
// program that wrote them.
func WriteProof(w io.Writer, v Verdict) {
	fmt.Fprintln(w, verdictLine(v))
	if !v.OK {
		fmt.Fprintf(w, "BAD: %s\n", printable(v.Problems[0]))
		if v.Found > 1 {
			fmt.Fprintf(w, "BAD: and %s more; \"mcp-pruner trace verify --all\" names them\n", terminal.Grouped(v.Found-1))
		}
	}
	for _, n := range v.Notes {
		fmt.Fprintln(w, "note: "+printable(n))
	}
	for _, f := range v.Files {
		fmt.Fprintf(w, "sha256 %s  %s (%s bytes)\n", f.SHA256, printable(f.Name), terminal.Grouped(int(f.Bytes)))
	}
	if v.Records > 0 {
		fmt.Fprintf(w, "versions: %s; %s\n", byKind(v.Versions), comparedText(v))
	}
}

func comparedText(v Verdict) string {
	if v.Heads {
		return "compared with heads that were kept elsewhere"
	}
	return withoutHeads + " (--heads) a cut end does not show"
}

const withoutHeads = "without heads"
