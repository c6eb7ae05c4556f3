package service

import (
	"context"
	"errors"

	"mcp-pruner/pruneclient/deepinfra"
	"mcp-pruner/pruneclient/lineprune"
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

// rerank chooses by the cloud's scores. When they cannot be had the local choice
// stands, and the warnings say why.
func (s *Service) rerank(ctx context.Context, id string, a PruneArgs, local lineprune.Result) selection {
	cloud := &CloudStats{}
	fallback := selection{Result: local, cloud: cloud}
	if !worthAsking(a, local) {
		return fallback
	}
	survey, err := s.survey(ctx, a)
	if err != nil {
		cloud.failed = true
		fallback.Warnings = append(fallback.Warnings, TimedOut)
		return fallback
	}
	c := newChoice(a.Text, survey.Protected)
	cloud.DocsTotal = c.solid()
	docs := documents(c.lines, survey.Score, s.settings.Reranker.MaxDocs())
	if len(docs) == 0 {
		return fallback
	}
	scores, err := s.settings.Reranker.Score(ctx, a.Goal, texts(docs))
	if err != nil {
		cloud.failed = true
		fallback.Warnings = append(fallback.Warnings, cloudWarnings(err, cloud)...)
		return fallback
	}
	cloud.DocsScored, cloud.HTTPStatus = len(docs), 200
	cloud.Cached, cloud.LatencyMS = scores.Cached, scores.Latency.Milliseconds()
	chosen := selection{Result: chooseBy(a, id, c, survey, docs, scores.Of), cloud: cloud}
	if cloud.Cached {
		chosen.Warnings = append(chosen.Warnings, cacheHit)
	}
	if cloud.DocsScored < cloud.DocsTotal {
		chosen.Warnings = append(chosen.Warnings, docsTruncated)
	}
	return chosen
}

// worthAsking is false where the answer could change nothing: no lines, nothing
// may be pruned, or a patch, of which every line counts.
func worthAsking(a PruneArgs, local lineprune.Result) bool {
	for _, w := range local.Warnings {
		if w == lineprune.IsDiff || w == lineprune.ConstraintsUnmet {
			return false
		}
	}
	return a.minKept(local.Total) < local.Total
}

func (s *Service) survey(ctx context.Context, a PruneArgs) (survey lineprune.Survey, err error) {
	err = s.inSlot(ctx, func() (err error) {
		survey, err = lineprune.Look(ctx, a.Text, a.Goal, a.Kind, lineprune.Options{})
		return err
	})
	return survey, err
}

// chooseBy keeps what is protected and then the best lines, exactly as many as
// the caller's limits demand. Lines of one passage are told apart by the words of
// the question, equals by their order in the text.
func chooseBy(a PruneArgs, id string, c *choice, survey lineprune.Survey, docs []document, scores []float64) lineprune.Result {
	score := spread(docs, scores, len(c.lines))
	perLine := len(docs) == c.solid()
	c.fill(func(i, j int) bool {
		if bi, bj := blank(c.lines[i]), blank(c.lines[j]); bi != bj {
			return bj
		}
		if score[i] != score[j] || perLine {
			return score[i] > score[j]
		}
		return survey.Score[i] > survey.Score[j]
	}, a.minKept(len(c.lines)))
	limits := a.limits(id)
	if limits.Marker == nil || len(a.Text) < markersDecide {
		return c.result(survey.Kind, lowScore)
	}
	c.bridge(limits.Marker)
	res := c.result(survey.Kind, lowScore)
	if text := lineprune.Render(a.Text, res, lineprune.RenderOptions{Marker: limits.Marker}); len(text) > len(a.Text) {
		res = lineprune.Result{Kind: survey.Kind, Total: len(c.lines), Warnings: []string{lineprune.NoGain}}
	}
	return res
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
