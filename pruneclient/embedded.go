package pruneclient

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// EmbeddedEndpoint is the name of the in-process pruner in settings and events.
const EmbeddedEndpoint = "embedded"

// Embedded prunes in this process, using package lineprune.
type Embedded struct {
	timeout time.Duration
}

// NewEmbedded returns the in-process pruner. A timeout of 0 means defaultTimeout.
func NewEmbedded(timeout time.Duration) *Embedded {
	return &Embedded{timeout: cmp.Or(timeout, defaultTimeout)}
}

// Endpoint returns "embedded".
func (e *Embedded) Endpoint() string { return EmbeddedEndpoint }

// Prune keeps the lines of req.Text that answer req.Question. If the pruner is not confident or the text
// would not get shorter, it returns the text byte for byte.
func (e *Embedded) Prune(ctx context.Context, req Request) (Result, error) {
	call, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	kind, opts, render := req.SourceType, req.options(), lineprune.RenderOptions{}
	if req.Grep {
		kind = lineprune.Grep
	} else {
		render.Marker = func(b lineprune.Block) string { return lineprune.Gap(b, max(req.FirstLine, 1)) }
		opts.Marker = render.Marker
	}
	res, err := pruneInTime(call, req, kind, opts)
	if err != nil {
		return Result{}, e.failure(ctx)
	}
	if req.cutAnyway(res) {
		note := strings.Replace(res.Note, "not pruned", "cut to what fits the question best", 1)
		if text, err := req.fitting(call, kind, opts, render); err != nil {
			return Result{}, e.failure(ctx)
		} else if text != "" {
			return Result{Text: text, Note: note}, nil
		}
	}
	if text := req.rendered(res, render); len(text) < len(req.Text) {
		return Result{Text: text}, nil
	}
	return Result{Text: req.Text, Note: res.Note}, nil
}

func (r Request) rendered(res lineprune.Result, render lineprune.RenderOptions) string {
	if !r.Grep && !res.Whole() {
		render.Header = header(r, res)
	}
	return lineprune.Render(r.Text, res, render)
}

// fitting returns the lines that fit the question best, as many as the client will show. A budget does not
// count markers, so that many short ranges may need a smaller budget. It returns "" if even the smallest
// one is too long.
func (r Request) fitting(ctx context.Context, kind lineprune.Kind, opts lineprune.Options, render lineprune.RenderOptions) (string, error) {
	opts.Diffs = true
	for part := ofShown; part > ofShown/8; part /= 2 {
		opts.Budget = r.Shown * part
		res, err := pruneInTime(ctx, r, kind, opts)
		if err != nil {
			return "", err
		}
		if text := r.rendered(res, render); float64(len(text)) <= r.Shown*float64(len(r.Text)) {
			return text, nil
		}
	}
	return "", nil
}

// A text that is longer than its client shows loses lines in any case. It is then better to lose the lines
// that fit the question least than those at the end.
const (
	ofShown       = 0.9  // fraction of the shown length; markers take the rest
	cutConfidence = 0.25 // below this confidence, the beginning is more useful than lines from everywhere
)

// cutAnyway reports whether the client would cut a text that came back whole, and the question is good
// enough to choose the lines.
func (r Request) cutAnyway(res lineprune.Result) bool {
	if !res.Whole() || r.Shown <= 0 || r.Shown >= 1 || res.Confidence < cutConfidence {
		return false
	}
	return slices.ContainsFunc(res.Warnings, func(w string) bool {
		return w == lineprune.LowConfidence || w == lineprune.NoGain || w == lineprune.IsDiff || w == lineprune.HasConflict || w == lineprune.AskedWhole
	})
}

// pruneInTime returns when ctx ends, whatever the pruner is doing. The pruner checks ctx between its steps,
// and one step over megabytes of short lines takes longer than a caller waits. The abandoned work ends at
// the next check.
func pruneInTime(ctx context.Context, req Request, kind lineprune.Kind, opts lineprune.Options) (lineprune.Result, error) {
	type outcome struct {
		res      lineprune.Result
		err      error
		panicked any
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			out.panicked = recover() // passed on, so that the caller's own recover sees it
			done <- out
		}()
		out.res, out.err = lineprune.Prune(ctx, req.Text, req.Question, kind, opts)
	}()
	select {
	case out := <-done:
		if out.panicked != nil {
			panic(out.panicked)
		}
		return out.res, out.err
	case <-ctx.Done():
		return lineprune.Result{}, ctx.Err()
	}
}

func (r Request) options() lineprune.Options {
	return lineprune.Options{
		File: r.File, Command: r.Command, Budget: r.Budget, Ends: r.Ends,
		Call: session.Origin{Tool: r.Tool, Args: r.Args, Context: r.Context, Asked: true},
	}
}

// failure distinguishes the end of the caller's context from this pruner's own timeout.
func (e *Embedded) failure(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Code: Timeout, Message: fmt.Sprintf("the embedded pruner took longer than %v", e.timeout)}
}

// header returns the first line of a pruned text: how many lines were kept, what the gaps mean, and how to
// read one. It never suggests to run a command again, because that may have side effects.
func header(req Request, res lineprune.Result) string {
	gap := lineprune.Gap(lineprune.Block{Start: res.Blocks[0].Start, End: res.Blocks[0].End}, max(req.FirstLine, 1))
	return lineprune.Header(len(res.Kept), res.Total, fmt.Sprintf("%q = left out%s", gap, howToSeeOne(req, res.Blocks[0])))
}

// howToSeeOne returns how to read the first omitted range, as an example for all of them.
func howToSeeOne(req Request, b lineprune.Block) string {
	part := req.FirstLine > 1 // gaps are in line numbers of the file, the stored text starts at 1
	start, end := b.Start+max(req.FirstLine, 1)-1, b.End+max(req.FirstLine, 1)-1
	switch {
	case req.RecoveryID != "" && !part:
		return fmt.Sprintf(": read file_path=%s start_line=%d end_line=%d", req.RecoveryID, start, end)
	case req.File != "":
		return fmt.Sprintf(": read start_line=%d end_line=%d", start, end)
	}
	return ""
}
