package service

import (
	"math"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Stats are the figures of one call of prune_text.
type Stats struct {
	OriginalLines   int     `json:"original_lines"`
	KeptLines       int     `json:"kept_lines"`
	PrunedLines     int     `json:"pruned_lines"`
	PrunedRatio     float64 `json:"pruned_ratio"` // fraction of the lines, rounded to four decimals
	TokensEstBefore int     `json:"tokens_est_before"`
	TokensEstAfter  int     `json:"tokens_est_after"` // includes markers and numbers
	ElapsedMS       int64   `json:"elapsed_ms"`
	UsedFallback    bool    `json:"used_fallback"`
	FallbackKind    string  `json:"fallback_kind,omitempty"` // "noop": unchanged; "heuristic": without the cloud
	Backend         string  `json:"backend"`                 // "heuristic" or "deepinfra"
	*CloudStats
}

// CloudStats are the figures of a call that was meant to use the cloud.
type CloudStats struct {
	LatencyMS  int64 `json:"deepinfra_latency_ms"`
	DocsScored int   `json:"deepinfra_docs_scored"`
	DocsTotal  int   `json:"deepinfra_docs_total"` // lines of the text
	HTTPStatus int   `json:"deepinfra_http_status,omitempty"`
	Cached     bool  `json:"deepinfra_cached"`

	TokensSavedEst   int     `json:"tokens_saved_est"`
	CostEstimatedUSD float64 `json:"cost_estimated_usd"` // for the tokens saved

	failed bool // the local choice was used
}

func statsOf(before, after string, res lineprune.Result) Stats {
	s := Stats{OriginalLines: res.Total, Backend: "heuristic", TokensEstBefore: tokens.Lines(before)}
	for _, b := range res.Blocks {
		s.PrunedLines += b.Lines()
	}
	s.KeptLines = s.OriginalLines - s.PrunedLines
	if s.PrunedLines > 0 {
		s.PrunedRatio = round(float64(s.PrunedLines)/float64(s.OriginalLines), 4)
	}
	s.TokensEstAfter = s.TokensEstBefore
	if after != before {
		s.TokensEstAfter = tokens.Lines(after)
	}
	return s
}

// addCloud adds the figures of a call that was meant to use the cloud.
func (s *Stats) addCloud(cloud *CloudStats) {
	if cloud == nil {
		return
	}
	const usdPerMillionTokens = 0.01
	s.Backend, s.CloudStats = "deepinfra", cloud
	cloud.TokensSavedEst = max(0, s.TokensEstBefore-s.TokensEstAfter)
	cloud.CostEstimatedUSD = round(float64(cloud.TokensSavedEst)*usdPerMillionTokens/1e6, 8)
	if cloud.failed {
		s.UsedFallback, s.FallbackKind = true, "heuristic"
	}
}

func round(x float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(x*unit) / unit
}

// Metrics count the service's work since it started.
type Metrics struct {
	CallsTotal            int64   `json:"calls_total"`
	CallsDeepInfra        int64   `json:"calls_deepinfra"`
	FallbacksDeepInfra    int64   `json:"fallbacks_deepinfra"`
	FallbackRateDeepInfra float64 `json:"fallback_rate_deepinfra"`
	CostEstimatedTotalUSD float64 `json:"cost_estimated_total_usd"`
}

type counters struct {
	mu      sync.Mutex
	metrics Metrics
}

func (c *counters) call() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics.CallsTotal++
}

func (c *counters) result(s Stats) {
	if s.CloudStats == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.metrics.CallsDeepInfra++
	if s.failed {
		c.metrics.FallbacksDeepInfra++
		return
	}
	c.metrics.CostEstimatedTotalUSD += s.CostEstimatedUSD
}

func (c *counters) snapshot() Metrics {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.metrics
	if m.CallsDeepInfra > 0 {
		m.FallbackRateDeepInfra = round(float64(m.FallbacksDeepInfra)/float64(m.CallsDeepInfra), 4)
	}
	m.CostEstimatedTotalUSD = round(m.CostEstimatedTotalUSD, 8)
	return m
}
