package service

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// Warnings of a text that was returned unchanged because of an error.
const (
	InputTooLarge       = "input_too_large"
	TimedOut            = "timeout"
	RecoveryUnavailable = "recovery_unavailable" // the original could not be stored
	InternalError       = "internal_error"
)

// PruneResult is the answer of prune_text.
type PruneResult struct {
	PruneID     string       `json:"prune_id"`
	PrunedText  string       `json:"pruned_text"`
	Annotations []Annotation `json:"annotations"`
	Stats       Stats        `json:"stats"`
	Warnings    []string     `json:"warnings"`
}

// Annotation is one pruned block.
type Annotation struct {
	Kind   string `json:"kind"` // "pruned_block"
	Start  int    `json:"original_start_line"`
	End    int    `json:"original_end_line"`
	Count  int    `json:"pruned_line_count"`
	Reason string `json:"reason"`
	Marker string `json:"marker"` // the marker in the text if markers are enabled
}

// selection is the lines to keep, with warnings and figures about the choice.
type selection struct {
	lineprune.Result
	cloud *CloudStats // nil without the cloud backend
}

// PruneText prunes one text. On any failure the text is returned unchanged, and the
// warnings say why. The only error is ctx's, when no client waits for the answer any more.
func (s *Service) PruneText(ctx context.Context, a PruneArgs) (PruneResult, error) {
	start := s.settings.Now()
	s.counters.call()
	res := s.prune(ctx, a)
	if ctx.Err() != nil {
		return PruneResult{}, ctx.Err()
	}
	res.Stats.ElapsedMS = s.settings.Now().Sub(start).Milliseconds()
	s.counters.result(res.Stats)
	return res, nil
}

func (s *Service) prune(ctx context.Context, a PruneArgs) PruneResult {
	limited, cancel := context.WithTimeout(ctx, a.Options.Timeout)
	defer cancel()
	tooLarge := utf8.RuneCountInString(a.Text) > s.settings.MaxInputChars
	// The original is stored first: a text that cannot be recovered must not be pruned, and
	// even a text that is not pruned can be recovered by its id.
	id, err := s.store(limited, a)
	switch {
	case err != nil && limited.Err() != nil:
		return noop(recovery.NewID(), a.Text, TimedOut, RecoveryUnavailable)
	case err != nil:
		return noop(recovery.NewID(), a.Text, RecoveryUnavailable)
	case tooLarge:
		return noop(id, a.Text, InputTooLarge)
	}
	var survey lineprune.Survey
	var local selection
	var res PruneResult
	err = s.inSlot(limited, func() (err error) {
		if survey, err = lineprune.Look(limited, a.Text, a.Goal, a.Kind, a.limits(id)); err != nil {
			return err
		}
		local.Result = survey.Choose()
		if s.settings.Reranker == nil {
			res = finish(id, a, local)
		}
		return nil
	})
	switch {
	case err != nil && limited.Err() != nil:
		return noop(id, a.Text, TimedOut)
	case err != nil:
		return noop(id, a.Text, InternalError)
	case s.settings.Reranker != nil:
		return s.rerank(limited, id, a, survey, local)
	}
	return res
}

// storeGrace is the minimum time for storing an original, even if the time limit is
// shorter: a text whose pruning timed out can then be recovered too.
const storeGrace = 25 * time.Millisecond

// store stores the original. ctx has the time limit.
func (s *Service) store(ctx context.Context, a PruneArgs) (id string, err error) {
	if a.Options.Timeout < storeGrace {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), storeGrace)
		defer cancel()
	}
	return s.settings.Store.Put(ctx, a.Text)
}

// inSlot runs work once it is the turn of the context's subject and a slot is free, and turns a panic in it into an error, so that a
// bug does not lose the text.
func (s *Service) inSlot(ctx context.Context, work func() error) (err error) {
	leave, err := s.turns.take(ctx, cap(s.slots))
	if err != nil {
		return err
	}
	defer leave()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while pruning: %T", p) // the value may quote the text
		}
	}()
	return work()
}

// limits returns the caller's constraints in the form of lineprune.
func (a PruneArgs) limits(id string) lineprune.Options {
	return lineprune.Options{
		LimitRatio:    true,
		MaxPruneRatio: a.Options.MaxPruneRatio,
		MinKeepLines:  a.Options.MinKeepLines,
		Marker:        a.marker(id),
	}
}

// marker returns what renders the markers of a text, or nil if the caller wants none.
func (a PruneArgs) marker(id string) func(lineprune.Block) string {
	if !a.Options.Markers {
		return nil
	}
	return func(b lineprune.Block) string { return lineprune.Marker(id, b) }
}

// noop returns the fail-open answer: the unchanged text and the reason.
func noop(id, text string, warnings ...string) PruneResult {
	stats := statsOf(text, text, lineprune.Result{Total: recovery.CountLines(text)})
	stats.UsedFallback, stats.FallbackKind = true, "noop"
	return PruneResult{PruneID: id, PrunedText: text, Annotations: []Annotation{}, Stats: stats, Warnings: warnings}
}

// finish turns a selection into the answer.
func finish(id string, a PruneArgs, chosen selection) PruneResult {
	if slices.Contains(chosen.Warnings, lineprune.ConstraintsUnmet) {
		return noop(id, a.Text, chosen.Warnings...)
	}
	text := a.render(id, chosen.Result, false)
	if chosen.cloud == nil && utf8.RuneCountInString(text) > utf8.RuneCountInString(a.Text) {
		// It was shorter in bytes but not in characters: few characters were removed, of a
		// script with three bytes each. Readers count characters. Line numbers are ignored
		// here, since asking for them must not change which lines are kept.
		chosen.Result = lineprune.Result{Kind: chosen.Kind, Total: chosen.Total, Warnings: []string{lineprune.NoGain}}
		text = a.Text
	}
	if a.Options.Numbers {
		text = a.render(id, chosen.Result, true)
	}
	res := PruneResult{
		PruneID: id, PrunedText: text,
		Annotations: annotations(id, chosen.Blocks),
		Stats:       statsOf(a.Text, text, chosen.Result),
		Warnings:    append([]string{}, chosen.Warnings...),
	}
	res.Stats.addCloud(chosen.cloud)
	return res
}

func (a PruneArgs) render(id string, res lineprune.Result, numbers bool) string {
	return lineprune.Render(a.Text, res, lineprune.RenderOptions{Numbers: numbers, Marker: a.marker(id)})
}

func annotations(id string, blocks []lineprune.Block) []Annotation {
	list := make([]Annotation, 0, len(blocks))
	for _, b := range blocks {
		list = append(list, Annotation{
			Kind: "pruned_block", Start: b.Start, End: b.End, Count: b.Lines(),
			Reason: lineprune.CleanReason(b.Reason), Marker: lineprune.Marker(id, b),
		})
	}
	return list
}
