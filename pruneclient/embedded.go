package pruneclient

import (
	"context"
	"fmt"
	"time"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/lineprune/session"
)

// EmbeddedEndpoint names the in-process pruner in settings and events.
const EmbeddedEndpoint = "embedded"

// Embedded prunes in this process, with lineprune.
type Embedded struct {
	timeout time.Duration
}

// NewEmbedded returns the in-process pruner. A timeout of 0 means DefaultTimeout.
func NewEmbedded(timeout time.Duration) *Embedded {
	return &Embedded{timeout: orDefault(timeout, DefaultTimeout)}
}

// Endpoint is "embedded".
func (e *Embedded) Endpoint() string { return EmbeddedEndpoint }

// Prune keeps the lines of req.Text that answer req.Question. A text the pruner is
// not sure about, or that would not get shorter, comes back byte for byte.
func (e *Embedded) Prune(ctx context.Context, req Request) (Result, error) {
	call, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	kind, opts := req.SourceType, req.options()
	render := lineprune.RenderOptions{}
	if req.Grep {
		kind = lineprune.Grep
	} else {
		render.Marker = markerFor(req)
		opts.Marker = render.Marker
	}
	res, err := lineprune.Prune(call, req.Text, req.Question, kind, opts)
	if err != nil {
		return Result{}, e.failure(ctx)
	}
	if !req.Grep {
		render.Header = header(req, res)
	}
	if text := lineprune.Render(req.Text, res, render); len(text) < len(req.Text) {
		return Result{Text: text}, nil
	}
	return Result{Text: req.Text}, nil
}

func (r Request) options() lineprune.Options {
	return lineprune.Options{
		File: r.File, Command: r.Command, Budget: r.Budget,
		Call: session.Call{Tool: r.Tool, Args: r.Args, Context: r.Context},
	}
}

// failure tells the caller's giving up from our own timeout.
func (e *Embedded) failure(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &Error{Code: Timeout, Message: fmt.Sprintf("the embedded pruner took longer than %v", e.timeout)}
}

// markerFor renders what stands for an omitted range: the canonical marker when
// the original can be recovered, else a short one.
func markerFor(req Request) func(lineprune.Block) string {
	if req.RecoveryID == "" {
		return lineprune.ShortMarker
	}
	return func(b lineprune.Block) string { return lineprune.Marker(req.RecoveryID, b) }
}

// header is the first line of a pruned text: how much was kept of what, and how to
// get the rest.
func header(req Request, res lineprune.Result) string {
	return lineprune.Header(len(res.Kept), res.Total, howToGetTheRest(req))
}

func howToGetTheRest(req Request) string {
	way, where := "ask again without context_focus_question to see all", ""
	if req.File != "" && req.FirstLine > 1 {
		where = fmt.Sprintf(" (line 1 here is line %d of the file)", req.FirstLine)
	}
	switch {
	case req.RecoverTool && req.RecoveryID != "":
		way = "recover_text gives any of them back" + where
	case req.File != "":
		way = "read again with start_line and end_line and no question to see one" + where
	case req.Command != "":
		way = "run it again without context_focus_question to see all"
	}
	if req.RecoveryID != "" {
		way += "; prune_id " + req.RecoveryID
	}
	return way
}
