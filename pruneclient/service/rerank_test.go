package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
)

// newReranker is a client of a fake model that scores document i of n.
func newReranker(t *testing.T, score func(doc string, i, n int) float64, maxDocs int) *deepinfra.Client {
	t.Helper()
	return rerankerAt(t, maxDocs, func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Documents []string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		scores := make([]float64, len(body.Documents))
		for i, d := range body.Documents {
			scores[i] = score(d, i, len(body.Documents))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"scores": scores})
	})
}

func rerankerAt(t *testing.T, maxDocs int, answer http.HandlerFunc) *deepinfra.Client {
	t.Helper()
	srv := httptest.NewServer(answer)
	t.Cleanup(srv.Close)
	c, err := deepinfra.New(deepinfra.Settings{Endpoint: srv.URL, Key: "key", MaxDocs: maxDocs, Timeout: 10 * time.Second})
	require.NoError(t, err)
	return c
}

func hashScores(doc string, _, _ int) float64 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, doc)
	return float64(h.Sum32()%1000) - 500
}

func ascending(_ string, i, n int) float64  { return float64(i) / float64(n) }
func descending(_ string, i, n int) float64 { return -float64(i) / float64(n) }

func kept(res service.PruneResult) []int {
	var lines []int
	n := 1
	for _, a := range append(res.Annotations, service.Annotation{Start: res.Stats.OriginalLines + 1}) {
		for ; n < a.Start; n++ {
			lines = append(lines, n)
		}
		n = a.End + 1
	}
	return lines
}

func TestRerankKeepsTheBestLines(t *testing.T) {
	var lines []string
	for i := range 10 {
		lines = append(lines, fmt.Sprintf("%d: %s %s %s and a good many words more", i, word(i), word(i+3), word(i+5)))
	}
	scores := map[string]float64{"2": 9, "4": 8, "6": 7, "8": 6}
	s := newService(t, service.Settings{Reranker: newReranker(t, func(doc string, _, _ int) float64 {
		return scores[doc[:1]]
	}, 64)})
	a := ask(strings.Join(lines, "\n"), "goal")
	a.Options.MaxPruneRatio, a.Options.MinKeepLines = 0.6, 3
	res := prune(t, s, a)
	assert.Equal(t, []int{3, 5, 7, 9}, kept(res))
	assert.Empty(t, res.Warnings)
	require.NotNil(t, res.Stats.CloudStats)
	assert.Equal(t, "deepinfra", res.Stats.Backend)
	assert.False(t, res.Stats.UsedFallback)
	assert.Equal(t, 10, res.Stats.DocsScored)
	assert.Equal(t, 10, res.Stats.DocsTotal)
	assert.Equal(t, 200, res.Stats.HTTPStatus)
	assert.False(t, res.Stats.Cached)

	again := prune(t, s, a)
	assert.Equal(t, []string{"cache_hit"}, again.Warnings)
	assert.True(t, again.Stats.Cached)
	assert.Zero(t, again.Stats.LatencyMS)
	assert.Equal(t, kept(res), kept(again))
}

// However long the text, the scores decide which end of it stays.
func TestRerankScoresMatterAtEverySize(t *testing.T) {
	for _, n := range []int{10, 16, 17, 100, 1000, 20_000} {
		for name, text := range map[string]string{"varied": haystack(n), "uniform": strings.Repeat("the same line, again and again\n", n)} {
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				a := ask(text, "nothing of it")
				a.Options.MaxPruneRatio, a.Options.Markers = 0.7, false
				total := strings.Count(text, "\n")
				up := prune(t, newService(t, service.Settings{Reranker: newReranker(t, ascending, 16)}), a)
				down := prune(t, newService(t, service.Settings{Reranker: newReranker(t, descending, 16)}), a)
				want := total - total*7/10
				require.Len(t, kept(up), want)
				require.Len(t, kept(down), want)
				assert.Equal(t, total, kept(up)[want-1], "the last line is the best one")
				assert.Greater(t, kept(up)[0], total/3)
				assert.Equal(t, 1, kept(down)[0], "the first line is the best one")
				assert.Less(t, kept(down)[want-1], total*2/3)
			})
		}
	}
}

func TestRerankSkipsBlankLines(t *testing.T) {
	var sent []string
	s := newService(t, service.Settings{Reranker: newReranker(t, func(doc string, i, n int) float64 {
		sent = append(sent, doc)
		return ascending(doc, i, n)
	}, 64)})
	a := ask("one\n\n  \t\ntwo\r\n\nthree\n", "goal")
	a.Options.MaxPruneRatio = 0.5
	res := prune(t, s, a)
	assert.Equal(t, []string{"one", "two", "three"}, sent)
	assert.Equal(t, []int{1, 4, 6}, kept(res))
	assert.Equal(t, 6, res.Stats.DocsTotal, "all lines count")
	assert.NotContains(t, res.Warnings, "deepinfra_docs_truncated")
}

// What may not be pruned is nobody's business.
func TestRerankSendsNothingProtected(t *testing.T) {
	var sent []string
	s := newService(t, service.Settings{Reranker: newReranker(t, func(doc string, i, n int) float64 {
		sent = append(sent, doc)
		return ascending(doc, i, n)
	}, 7)})
	secret := "⟦NO_PRUNE_BEGIN⟧\nthe password is SECRET\n ⟦NO_PRUNE_END⟧\n"
	for _, text := range []string{secret, "⟦NO_PRUNE_BEGIN⟧\n" + haystack(9)} {
		a := ask(text, "the password")
		a.Options.MaxPruneRatio = 0.9
		assert.Equal(t, text, prune(t, s, a).PrunedText)
		assert.Empty(t, sent, "nothing is asked")
	}
	earlier := "⟦PRUNÉ: prune_id=prn_old lignes 1-9 (9) raison=SECRET⟧\n(filtered 3 SECRET lines)\n[pruned: SECRET\n"
	for _, n := range []int{3, 20, 5000} {
		a := ask(haystack(n)+secret+earlier+haystack(n), "the password")
		a.Options.MaxPruneRatio = 0.9
		res := prune(t, s, a)
		assert.Contains(t, res.PrunedText, secret)
		assert.Contains(t, res.PrunedText, earlier)
		assert.NotEmpty(t, sent)
		for _, doc := range sent {
			require.NotRegexp(t, "SECRET|NO_PRUNE", doc)
		}
	}
}

// Nothing that may be pruned goes unasked, and the other way round.
func TestRerankAsksAboutAllThatMayGo(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	special := []string{"⟦NO_PRUNE_BEGIN⟧", "\t⟦NO_PRUNE_END⟧ ", "x ⟦NO_PRUNE_BEGIN⟧", "⟦NO_PRUNE_END⟧", "⟦PRUNÉ: a⟧", "⟦PRUNÉ: a", "(filtered 3 lines)", "[pruned: x", " ", "(filtered 3 lines) "}
	for range 300 {
		lines := []string{"(filtered 9 lines)"} // always stays, so that every other line may go
		for i := range 1 + random.IntN(30) {
			lines = append(lines, fmt.Sprint(word(random.IntN(11)), i, "\r"))
			if random.IntN(4) == 0 {
				lines = append(lines, special[random.IntN(len(special))])
			}
		}
		look, err := lineprune.Look(t.Context(), strings.Join(lines, "\n"), "", lineprune.Docs, lineprune.Options{})
		require.NoError(t, err)
		_, spans := service.Documents(lines, nil, 512)
		asked := map[int]bool{}
		for _, s := range spans {
			asked[s[0]] = true
		}
		for _, block := range look.Keep(nil).Blocks { // all that may go
			for n := block.Start; n <= block.End; n++ {
				require.Equal(t, strings.TrimSpace(lines[n-1]) != "", asked[n], "%q of %q", lines[n-1], lines)
				delete(asked, n)
			}
		}
		require.Empty(t, asked, "%q", lines)
	}
}

// Lines that were not scored each for itself are said to be left out; blank ones are not.
func TestRerankSaysWhatItLeftOut(t *testing.T) {
	s := newService(t, service.Settings{Reranker: newReranker(t, ascending, 4)})
	for name, tc := range map[string]struct {
		text string
		cut  bool
	}{
		"a line each":        {"one\n\ntwo\n\n\nthree\n", false},
		"blocks":             {haystack(60), true},
		"a sample":           {strings.Repeat("all the same\n", 60), true},
		"some of the blocks": {haystack(4000), true},
		"a long line":        {"a\nb\n" + strings.Repeat("x", 5000) + "\nc\n", false},
	} {
		a := ask(tc.text, "goal")
		a.Options.MaxPruneRatio = 0.5
		res := prune(t, s, a)
		assert.Equal(t, len(linesOf(tc.text)), res.Stats.DocsTotal, name)
		assert.Equal(t, tc.cut, slices.Contains(res.Warnings, "deepinfra_docs_truncated"), name)
	}
}

// Scores of any size order the lines; one without a score is worse than any.
func TestRerankTakesAnyScore(t *testing.T) {
	text := haystack(9)
	for name, tc := range map[string]struct {
		scores string
		gone   int
	}{
		"beyond 2^53": {`[null,-1e17,5,5,5,5,5,5,5,5]`, 1},
		"the lowest":  {`[5,5,null,-1.7976931348623157e308,5,5,5,5,5,5]`, 3},
		"the highest": {`[5,null,5,5,5,5,1.7976931348623157e308,5,5,5]`, 2},
	} {
		s := newService(t, service.Settings{Reranker: rerankerAt(t, 64, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, tc.scores)
		})})
		a := ask(text, "goal")
		a.Options.MaxPruneRatio = 0.1
		res := prune(t, s, a)
		require.Len(t, res.Annotations, 1, name)
		assert.Equal(t, tc.gone, res.Annotations[0].Start, name)
	}
	// The last passage is the best, and between it and the one before it gets better.
	extremes := func(_ string, i, _ int) float64 { return []float64{-1e308, -1e308, -1.5e308, 1.5e308}[i%4] }
	a := ask(haystack(4000), "goal")
	a.Options.MaxPruneRatio = 0.75
	res := prune(t, newService(t, service.Settings{Reranker: newReranker(t, extremes, 4)}), a)
	assert.Greater(t, kept(res)[0], 2900)
}

func TestRerankProtects(t *testing.T) {
	text := strings.Repeat("plain line of text\n", 50) + "⟦NO_PRUNE_BEGIN⟧\nkeep this\n⟦NO_PRUNE_END⟧\n" + strings.Repeat("another line of text\n", 50)
	s := newService(t, service.Settings{Reranker: newReranker(t, descending, 16)})
	a := ask(text, "goal")
	a.Options.MaxPruneRatio = 0.9
	assert.Subset(t, kept(prune(t, s, a)), []int{51, 52, 53})
}

func TestRerankAsksOnlyWhereItMatters(t *testing.T) {
	var calls atomic.Int32
	s := newService(t, service.Settings{Reranker: rerankerAt(t, 16, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, `{"scores":[1]}`)
	})})
	nothing := ask(haystack(50), "goal")
	nothing.Options.MaxPruneRatio = 0
	greedy := ask(haystack(50), "goal")
	greedy.Options.MinKeepLines = 99
	patch := ask("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,40 +1,40 @@\n"+strings.Repeat("-old line of the file\n+new line of the file\n", 40), "goal")
	for name, a := range map[string]service.PruneArgs{
		"empty": ask("", "goal"), "blank": ask("\n \n\n", "goal"), "ratio 0": nothing, "impossible": greedy, "a patch": patch,
	} {
		res := prune(t, s, a)
		assert.Equal(t, a.Text, res.PrunedText, name)
		if res.Stats.FallbackKind != "noop" {
			assert.Equal(t, len(linesOf(a.Text)), res.Stats.DocsTotal, name)
		}
	}
	assert.Zero(t, calls.Load())
}

func TestRerankFallsBack(t *testing.T) {
	for name, tc := range map[string]struct {
		answer   http.HandlerFunc
		warnings []string
		status   int
	}{
		"rate limited": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) },
			[]string{"deepinfra_error", "deepinfra_http_error"}, 429},
		"nonsense": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
			[]string{"deepinfra_error", "deepinfra_parse_error"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := ask(haystack(400), needleGoal)
			local := prune(t, newService(t, service.Settings{}), a)
			s := newService(t, service.Settings{Reranker: rerankerAt(t, 16, tc.answer)})
			res := prune(t, s, a)
			assert.Equal(t, kept(local), kept(res))
			assert.Equal(t, tc.warnings, res.Warnings)
			assert.True(t, res.Stats.UsedFallback)
			assert.Equal(t, "heuristic", res.Stats.FallbackKind)
			assert.Equal(t, tc.status, res.Stats.HTTPStatus)
			assert.Equal(t, service.Metrics{CallsTotal: 1, CallsDeepInfra: 1, FallbacksDeepInfra: 1, FallbackRateDeepInfra: 1}, s.Health().Metrics)
		})
	}
}

// The caller's own time limit ends the wait for the cloud; the local choice is
// ready by then.
func TestRerankObeysTheCallersTime(t *testing.T) {
	s := newService(t, service.Settings{Reranker: rerankerAt(t, 16, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})})
	a := ask(haystack(400), needleGoal)
	a.Options.Timeout = 200 * time.Millisecond
	start := time.Now()
	res := prune(t, s, a)
	assert.Less(t, time.Since(start), time.Minute)
	assert.Equal(t, []string{"deepinfra_error", "deepinfra_http_error"}, res.Warnings)
	assert.Equal(t, "heuristic", res.Stats.FallbackKind)
	assert.NotEmpty(t, res.Annotations)
}

// Waiting for the cloud holds no slot: others are pruned meanwhile.
func TestRerankWaitsWithoutASlot(t *testing.T) {
	arrived := make(chan struct{})
	cloud := newService(t, service.Settings{Concurrency: 1, Reranker: rerankerAt(t, 16, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(arrived)
		<-r.Context().Done()
	})})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := cloud.PruneText(ctx, ask(haystack(400), needleGoal))
		ended <- err
	}()
	<-arrived
	_, err := cloud.PruneCode(t.Context(), service.CodeArgs{Code: "a", Query: "b"})
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// Choosing by the scores takes a slot again: answers that come all at once leave a
// processor to others. Where there is none in time, the local choice stands.
func TestRerankChoosesInASlot(t *testing.T) {
	var s *service.Service
	var release func()
	s = newService(t, service.Settings{Concurrency: 1, Reranker: rerankerAt(t, 512, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		release = s.Hold()
		_, _ = io.WriteString(w, `{"scores":[1]}`)
	})})
	a := ask(haystack(400), needleGoal)
	a.Options.Timeout = 300 * time.Millisecond
	res := prune(t, s, a)
	assert.Equal(t, []string{service.TimedOut}, res.Warnings)
	assert.Equal(t, "heuristic", res.Stats.FallbackKind)
	assert.Contains(t, res.PrunedText, "the quaternion normaliser divides")
	release()
	a.Options.Timeout = time.Minute
	assert.Equal(t, []string{"cache_hit"}, prune(t, s, a).Warnings)
}

func TestRerankCost(t *testing.T) {
	s := newService(t, service.Settings{Reranker: newReranker(t, ascending, 16)})
	a := ask(haystack(400), needleGoal)
	a.Options.MaxPruneRatio = 0.9
	res := prune(t, s, a)
	saved := res.Stats.TokensEstBefore - res.Stats.TokensEstAfter
	require.Positive(t, saved)
	assert.Equal(t, saved, res.Stats.TokensSavedEst)
	assert.InDelta(t, float64(saved)*0.01/1e6, res.Stats.CostEstimatedUSD, 1e-8)
	assert.InDelta(t, res.Stats.CostEstimatedUSD, s.Health().Metrics.CostEstimatedTotalUSD, 1e-12)
	raw, err := json.Marshal(res.Stats)
	require.NoError(t, err)
	assert.Contains(t, string(raw), `"tokens_saved_est"`)
	plain, err := json.Marshal(prune(t, newService(t, service.Settings{}), a).Stats)
	require.NoError(t, err)
	assert.NotContains(t, string(plain), "deepinfra_")
}
