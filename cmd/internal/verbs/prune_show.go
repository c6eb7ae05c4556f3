package verbs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// showPruned prints a result in the requested form.
func showPruned(s pruneSettings, text string, res lineprune.Result, stdout, stderr io.Writer) error {
	switch {
	case s.json:
		return showPrunedJSON(res, stdout)
	case s.why:
		return showWhyKept(text, res, stdout)
	}
	render := lineprune.RenderOptions{Marker: gapLine}
	if res.Kind == lineprune.Grep {
		render.Marker = nil
	}
	if _, err := io.WriteString(stdout, lineprune.Render(text, res, render)); err != nil {
		return err
	}
	fmt.Fprintln(stderr, pruneSummary(res))
	return nil
}

// gapLine marks an omitted range.
func gapLine(b lineprune.Block) string { return lineprune.Gap(b, 1) }

func pruneSummary(res lineprune.Result) string {
	kept, note := fmt.Sprintf("%d of %d", len(res.Kept), res.Total), ""
	if res.Whole() {
		kept = fmt.Sprintf("all %d", res.Total)
	}
	if res.Note != "" {
		note = "; " + res.Note
	}
	return fmt.Sprintf("[%s: %s lines kept%s]", res.Kind, kept, note)
}

// pruneMetadata is the form in which --json and --batch print a result.
type pruneMetadata struct {
	Kind       lineprune.Kind `json:"kind"`
	Total      int            `json:"total_lines"`
	Kept       []int          `json:"kept"`
	Blocks     []pruneBlock   `json:"omitted"`
	Confidence float64        `json:"confidence"`
	Warnings   []string       `json:"warnings"`
	Note       string         `json:"note,omitempty"`
}

type pruneBlock struct {
	Start  int    `json:"start_line"`
	End    int    `json:"end_line"`
	Reason string `json:"reason"`
}

func pruneMetadataOf(res lineprune.Result) pruneMetadata {
	m := pruneMetadata{Kind: res.Kind, Total: res.Total, Confidence: res.Confidence, Note: res.Note, // no list is null
		Kept: append([]int{}, res.Kept...), Warnings: append([]string{}, res.Warnings...), Blocks: []pruneBlock{}}
	for _, b := range res.Blocks {
		m.Blocks = append(m.Blocks, pruneBlock{b.Start, b.End, b.Reason})
	}
	return m
}

func showPrunedJSON(res lineprune.Result, stdout io.Writer) error {
	enc := json.NewEncoder(stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(pruneMetadataOf(res))
}

// visibleLine replaces control characters by visible ones, because a terminal would act on them.
func visibleLine(line string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return '·'
		}
		return r
	}, strings.TrimSuffix(line, "\r"))
}

// showWhyKept prints one row for each line: kept or not, number, score, reason and text. Then it prints how often each
// word of the question was found, and the confidence.
func showWhyKept(text string, res lineprune.Result, stdout io.Writer) error {
	w := bufio.NewWriter(stdout)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range res.Lines {
		mark := ' '
		if l.Kept {
			mark = '+'
		}
		fmt.Fprintf(w, "%c%6d %6.2f  %-32s │ %s\n", mark, i+1, l.Score, l.Why, visibleLine(lines[i]))
	}
	if len(res.Terms) > 0 {
		fmt.Fprintf(w, "lines that have a word: %s\n", visibleLine(termsFound(res.Terms)))
	}
	fmt.Fprintf(w, "confidence %.2f, %s\n", res.Confidence, pruneSummary(res))
	return w.Flush()
}

// termsFound lists the question's words with the number of lines that contain them.
func termsFound(terms []lineprune.Term) string {
	var list []string
	for _, t := range terms {
		list = append(list, fmt.Sprintf("%s %d", t.Name, t.Lines))
	}
	return strings.Join(list, ", ")
}
