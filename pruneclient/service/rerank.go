package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

const (
	lowScore = "pertinence faible"

	// Below this size in bytes, a marker is never shorter than the line it replaces, so the
	// reranker's choice is used without a check of the gain.
	markersDecide = 1024
)

// Warnings of the cloud backend, in addition to the kinds of deepinfra.Error.
const (
	cacheHit      = "cache_hit"
	docsTruncated = "deepinfra_docs_truncated"
	cloudError    = "deepinfra_error"
)

// rerank chooses lines by the cloud's scores. If these are missing or late, the local
// choice is used, and the warnings say why. It holds no slot while it waits for the cloud,
// because waiting needs no processor.
func (s *Service) rerank(ctx context.Context, id string, a PruneArgs, survey lineprune.Survey, local selection) PruneResult {
	cloud := &CloudStats{DocsTotal: local.Total}
	local.cloud = cloud
	instead := func(why ...string) PruneResult {
		cloud.failed = len(why) > 0
		local.Warnings = append(local.Warnings, why...)
		return finish(id, a, local)
	}
	if !worthAsking(a, local.Result) {
		return instead()
	}
	lines := recovery.NewText(a.Text).All()
	solid := askable(lines)
	docs := documents(lines, solid, survey.Score, s.settings.Reranker.MaxDocs())
	if len(docs) == 0 {
		return instead()
	}
	scores, err := s.settings.Reranker.Score(ctx, a.Goal, texts(docs))
	if err != nil {
		return instead(cloudWarnings(err, cloud)...)
	}
	cloud.DocsScored, cloud.HTTPStatus = len(docs), 200
	cloud.Cached, cloud.LatencyMS = scores.Cached, scores.Latency.Milliseconds()
	var res PruneResult
	err = s.inSlot(ctx, func() error {
		chosen := a.chooseBy(id, survey, ranking(solid, survey.Score, docs, scores.Of))
		chosen.Warnings = append(chosen.Warnings, cloud.warnings(len(solid))...)
		res = finish(id, a, selection{chosen, cloud})
		return nil
	})
	switch {
	case err == nil:
		return res
	case ctx.Err() != nil:
		return instead(TimedOut)
	}
	return instead(InternalError)
}

// worthAsking returns false if the scores could not change the result: there are no lines,
// no line may be pruned, or the text is a patch or has conflicts, so that every line matters.
func worthAsking(a PruneArgs, local lineprune.Result) bool {
	for _, w := range local.Warnings {
		if w == lineprune.IsDiff || w == lineprune.HasConflict || w == lineprune.ConstraintsUnmet {
			return false
		}
	}
	n := local.Total
	return a.Options.MinKeepLines < n && lineprune.MaxPruned(n, a.Options.MaxPruneRatio) > 0
}

// warnings returns the warnings about received scores; lines is the number of lines scored.
func (c *CloudStats) warnings(lines int) (list []string) {
	if c.Cached {
		list = append(list, cacheHit)
	}
	if c.DocsScored < lines {
		list = append(list, docsTruncated)
	}
	return list
}

// ranking orders the lines, best first: by the score of their passage, within a passage by
// their relevance to the question, then by position. Lines that are not solid come last.
func ranking(solid []int, relevance []float64, docs []document, scores []float64) []int {
	n := len(relevance)
	score := spread(docs, scores, n)
	order := make([]int, 0, n)
	isSolid := make([]bool, n)
	for _, i := range solid {
		order = append(order, i)
		isSolid[i] = true
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if c := cmp.Compare(score[j], score[i]); c != 0 || len(docs) == len(solid) {
			return c
		}
		return cmp.Compare(relevance[j], relevance[i])
	})
	for i := range n {
		if !isSolid[i] {
			order = append(order, i)
		}
	}
	return order
}

// chooseBy keeps the best lines, exactly as many as the limits require in addition to the
// protected ones. If markers would make the text longer, it is not pruned. For a text so
// small that markers would decide everything, they are ignored in the choice.
func (a PruneArgs) chooseBy(id string, survey lineprune.Survey, order []int) lineprune.Result {
	opts := a.limits(id)
	if len(a.Text) < markersDecide {
		opts.Marker = nil
	}
	res := survey.With(opts).Keep(order)
	for i := range res.Blocks {
		res.Blocks[i].SetReason(lowScore)
	}
	if opts.Marker == nil || len(lineprune.Render(a.Text, res, lineprune.RenderOptions{Marker: opts.Marker})) <= len(a.Text) {
		return res
	}
	return lineprune.Result{Kind: res.Kind, Total: res.Total, Warnings: []string{lineprune.NoGain}}
}

func cloudWarnings(err error, cloud *CloudStats) []string {
	var failed *deepinfra.Error
	if errors.As(err, &failed) {
		cloud.HTTPStatus = failed.Status
		return []string{cloudError, string(failed.Kind)}
	}
	// The caller's own time limit ran out first: for the user a timeout all the same.
	return []string{cloudError, string(deepinfra.HTTPError)}
}

func texts(docs []document) []string {
	list := make([]string, len(docs))
	for i, d := range docs {
		list[i] = d.text
	}
	return list
}
