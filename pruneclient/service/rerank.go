package service

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"mcp-pruner/pruneclient/deepinfra"
	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/recovery"
)

const (
	lowScore = "pertinence faible"

	// Below this size a marker is never shorter than the line it replaces and
	// there is nothing to save; the reranker's choice stands as it is.
	markersDecide = 1024
)

// The warnings of the cloud backend, beside the kinds of deepinfra.Error.
const (
	cacheHit      = "cache_hit"
	docsTruncated = "deepinfra_docs_truncated"
	cloudError    = "deepinfra_error"
)

// rerank chooses by the cloud's scores. When they cannot be had, or come too late,
// the local choice stands, and the warnings say why. It waits for the cloud
// without a slot: that costs no processor.
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

// worthAsking is false where the answer could change nothing: no lines, nothing
// may be pruned, or a patch, of which every line counts.
func worthAsking(a PruneArgs, local lineprune.Result) bool {
	for _, w := range local.Warnings {
		if w == lineprune.IsDiff || w == lineprune.ConstraintsUnmet {
			return false
		}
	}
	n := local.Total
	return a.Options.MinKeepLines < n && lineprune.MaxPruned(n, a.Options.MaxPruneRatio) > 0
}

// warnings are those of scores that were had, asked about so many lines.
func (c *CloudStats) warnings(lines int) (list []string) {
	if c.Cached {
		list = append(list, cacheHit)
	}
	if c.DocsScored < lines {
		list = append(list, docsTruncated)
	}
	return list
}

// ranking orders the lines, best first: by the score of their passage; within a
// passage of several lines by the words of the question; equals as in the text.
// Lines that are not solid come last.
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

// chooseBy keeps the best lines, exactly as many as the limits demand but for
// what is protected. Where markers would make the text longer it stays whole; a
// text so small that they would decide everything is chosen from as if there
// were none.
func (a PruneArgs) chooseBy(id string, survey lineprune.Survey, order []int) lineprune.Result {
	opts := a.limits(id)
	if len(a.Text) < markersDecide {
		opts.Marker = nil
	}
	res := survey.With(opts).Keep(order)
	for i := range res.Blocks {
		res.Blocks[i].Reason = lowScore
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
