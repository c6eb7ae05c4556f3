package tools

import (
	"fmt"
	"strings"
)

// readOutput is the text of a file, in the shape of the design.
type readOutput struct {
	Tool          string `json:"tool"`
	FilePath      string `json:"file_path"`
	Encoding      string `json:"encoding"`
	Content       string `json:"content"`
	Truncated     bool   `json:"truncated"`
	Bytes         int    `json:"bytes"`
	Duration      int64  `json:"duration_ms"`
	TotalLines    *int   `json:"total_lines,omitempty"`
	NextStartLine *int   `json:"next_start_line,omitempty"`
	Pruning       any    `json:"pruning"`

	limit, first int
	grep         bool   // the tool grep is offered
	explicit     bool   // the call set its own output limit
	original     bool   // it is an earlier call's output
	decoded      string // the encoding of the file if it is not UTF-8
	replaced     int    // number of bytes that were not valid UTF-8

	pruned   bool
	emptied  bool     // a pruner kept nothing
	fitted   bool     // cut to a limit
	rest     []string // its outline
	storedAs string   // where the original is
}

func (o *readOutput) Code() string { return o.Content }

// Source returns the file; the output of an earlier call has none.
func (o *readOutput) Source() Source {
	if o.original {
		return Source{FirstLine: o.first}
	}
	return Source{File: o.FilePath, FirstLine: o.first}
}

func (o *readOutput) Text() string { return o.Content }

func (o *readOutput) Prune(pruned string) (Output, error) {
	p := *o
	p.Content, p.pruned, p.emptied = pruned, pruned != o.Content, blank(pruned)
	return &p, nil
}

// WithOriginal records the id under which the whole text is stored.
func (o *readOutput) WithOriginal(id string) Output {
	p := *o
	p.storedAs = id
	return &p
}

// Shown returns the fraction of the text that Cut would keep.
func (o *readOutput) Shown(limit Limit) float64 {
	if o.explicit {
		return 1
	}
	return limit.fraction(o.Content)
}

// Cut keeps the first lines that fit.
func (o *readOutput) Cut(limit Limit) (Output, bool) {
	if o.explicit || limit.fits(o.Content) {
		return o, false
	}
	p := *o
	at := limit.head(o.Content)
	p.Content, p.Truncated, p.fitted = o.Content[:at], true, true
	if o.pruned {
		p.TotalLines, p.NextStartLine = nil, nil
		return &p, true
	}
	lines := strings.Count(p.Content, "\n")
	next := o.first + max(lines, 1)
	p.rest = outline(o.Content[at:], next)
	if p.TotalLines == nil && !o.Truncated {
		total := o.first - 1 + CountLines(o.Content)
		p.TotalLines = &total
	}
	p.NextStartLine = &next
	if p.TotalLines != nil && next > *p.TotalLines {
		p.NextStartLine = nil
	}
	return &p, true
}

// CountLines counts lines; the last one need not have a line end.
func CountLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// Notice returns the facts that a client would miss if it showed only the text.
func (o *readOutput) Notice() string {
	var said []string
	switch {
	case o.fitted && o.pruned:
		said = append(said, "cut: the pruned text is longer than a result may be"+readIt(o.storedAs, "all of it"))
	case o.fitted && o.Content != "" && !strings.HasSuffix(o.Content, "\n"):
		lifted := "max_output_bytes lifts that"
		if o.grep {
			lifted = searchIt(o.FilePath) + ", max_output_bytes shows all of it"
		}
		said = append(said, "cut within a line longer than a result may be; "+lifted)
	case o.fitted:
		said = append(said, fmt.Sprintf("cut after line %d; read on with start_line, or ask for a range", o.first+strings.Count(o.Content, "\n")-1))
	case o.Truncated:
		said = append(said, fmt.Sprintf("cut at %d bytes", o.limit))
	}
	switch {
	case o.Bytes == 0:
		said = append(said, "no lines here")
	case o.emptied:
		said = append(said, keptNone("the text", o.storedAs, "call again without context_focus_question for all of it"))
	}
	if o.decoded != "" {
		said = append(said, "decoded from "+o.decoded)
	}
	if o.replaced > 0 {
		said = append(said, fmt.Sprintf("not UTF-8: %d bytes stand as U+FFFD", o.replaced))
	}
	if o.TotalLines != nil {
		said = append(said, fmt.Sprintf("total_lines=%d", *o.TotalLines))
	}
	if o.NextStartLine != nil {
		said = append(said, fmt.Sprintf("next_start_line=%d", *o.NextStartLine))
	}
	notice := strings.Join(said, "; ")
	if len(o.rest) > 0 {
		notice += "; further on:\n" + strings.Join(o.rest, "\n")
	}
	return notice
}

func (o *readOutput) Structured(pruning any) any {
	s := *o
	s.Pruning = pruning
	return s
}
