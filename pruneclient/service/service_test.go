package service_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

func newService(t *testing.T, s service.Settings) *service.Service {
	t.Helper()
	if s.Store == nil {
		s.Store = newStore(t, recovery.Settings{})
	}
	return service.New(s)
}

func newStore(t *testing.T, s recovery.Settings) *recovery.Store {
	t.Helper()
	store, err := recovery.Open(s)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// ask is a request with options that let anything be pruned.
func ask(text, goal string) service.PruneArgs {
	return service.PruneArgs{Text: text, Goal: goal, Kind: lineprune.Docs, Options: service.PruneOptions{
		MaxPruneRatio: 1, Timeout: time.Minute, Markers: true,
	}}
}

func prune(t *testing.T, s *service.Service, a service.PruneArgs) service.PruneResult {
	t.Helper()
	res, err := s.PruneText(t.Context(), a)
	require.NoError(t, err)
	return res
}

// haystack is a text of n different lines around one that answers needleGoal.
func haystack(n int) string {
	var b strings.Builder
	for i := range n {
		if i == n/3 {
			b.WriteString("the quaternion normaliser divides by the squared length\n")
		}
		fmt.Fprintf(&b, "%s %s item %d is unremarkable\n", word(i), word(i*7+3), i)
	}
	return b.String()
}

const needleGoal = "where does the quaternion normaliser divide"

func word(i int) string {
	return []string{"amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty", "knoll"}[i%11]
}

// requireContract checks what holds for every answer, whatever was asked.
func requireContract(t *testing.T, s *service.Service, a service.PruneArgs, res service.PruneResult) {
	t.Helper()
	lines := linesOf(a.Text)
	require.Equal(t, len(lines), res.Stats.OriginalLines)
	require.NotNil(t, res.Annotations)
	require.NotNil(t, res.Warnings)
	if res.Stats.FallbackKind == "noop" {
		require.Equal(t, a.Text, res.PrunedText)
		require.Empty(t, res.Annotations)
		require.NotEmpty(t, res.Warnings)
	} else {
		require.Equal(t, rebuild(a, res, lines), res.PrunedText)
		require.LessOrEqual(t, float64(res.Stats.PrunedLines), float64(len(lines))*a.Options.MaxPruneRatio+1e-9)
		require.GreaterOrEqual(t, res.Stats.KeptLines, min(len(lines), a.Options.MinKeepLines))
	}
	require.Equal(t, len(lines), res.Stats.KeptLines+res.Stats.PrunedLines)
	all, err := recoverText(t, s, service.RecoverArgs{PruneID: res.PruneID, Ranges: whole(lines)}, 0)
	require.NoError(t, err)
	require.Equal(t, a.Text, all.RawText, "recovering everything gives the original bytes")
}

func whole(lines []string) []recovery.Range {
	if len(lines) == 0 {
		return nil
	}
	return []recovery.Range{{Start: 1, End: len(lines)}}
}

func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// rebuild makes the pruned text from the original and the annotations alone.
func rebuild(a service.PruneArgs, res service.PruneResult, lines []string) string {
	var out []string
	blocks := res.Annotations
	for n := 1; n <= len(lines); n++ {
		if len(blocks) > 0 && n == blocks[0].Start {
			if a.Options.Markers {
				out = append(out, blocks[0].Marker)
			}
			n = blocks[0].End
			blocks = blocks[1:]
			continue
		}
		line := lines[n-1]
		if a.Options.Numbers {
			line = fmt.Sprintf("%d│ %s", n, line)
		}
		out = append(out, line)
	}
	text := strings.Join(out, "\n")
	if strings.HasSuffix(a.Text, "\n") {
		text += "\n"
	}
	return text
}

// TestPruneContract holds the answer to its annotations, its limits and its
// recovery over many texts and options, with and without the cloud.
func TestPruneContract(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	backends := map[string]*service.Service{
		"heuristic": newService(t, service.Settings{}),
		"deepinfra": newService(t, service.Settings{Reranker: newReranker(t, hashScores, 16)}),
	}
	for range 150 {
		a := randomArgs(random)
		for name, s := range backends {
			res := prune(t, s, a)
			requireContract(t, s, a, res)
			if a.Options.Markers && !a.Options.Numbers && len(a.Text) >= 1024 {
				require.LessOrEqual(t, len(res.PrunedText), len(a.Text), name)
			}
			again := prune(t, s, a)
			require.Equal(t,
				strings.ReplaceAll(res.PrunedText, res.PruneID, "ID"),
				strings.ReplaceAll(again.PrunedText, again.PruneID, "ID"), "same input, same text")
			require.NotEqual(t, res.PruneID, again.PruneID)
			requireNumbersChangeNothing(t, s, a, res)
		}
	}
}

// requireNumbersChangeNothing checks that the same lines go with and without
// numbers, and that numbered lines are no more than the text numbered whole.
func requireNumbersChangeNothing(t *testing.T, s *service.Service, a service.PruneArgs, res service.PruneResult) {
	t.Helper()
	a.Options.Numbers = !a.Options.Numbers
	other := prune(t, s, a)
	require.Equal(t, kept(res), kept(other))
	plain, numbered := len([]rune(res.PrunedText)), len([]rune(other.PrunedText))
	if !a.Options.Numbers {
		plain, numbered = numbered, plain
	}
	if res.Stats.CloudStats == nil && res.Stats.FallbackKind == "" {
		digits := 0
		for n := range linesOf(a.Text) {
			digits += len(strconv.Itoa(n+1)) + 2
		}
		require.LessOrEqual(t, plain, len([]rune(a.Text)))
		require.LessOrEqual(t, numbered, len([]rune(a.Text))+digits)
	}
}

func randomArgs(r *rand.Rand) service.PruneArgs {
	var lines []string
	for range r.IntN(200) {
		switch r.IntN(8) {
		case 0:
			lines = append(lines, "")
		case 1:
			lines = append(lines, "short")
		case 2:
			lines = append(lines, "⟦PRUNÉ: prune_id=prn_old lignes 1-9 (9) raison=x⟧")
		default:
			lines = append(lines, fmt.Sprintf("%s %s %s number %d\r", word(r.IntN(11)), word(r.IntN(11)), word(r.IntN(11)), r.IntN(1000)))
		}
	}
	text := strings.Join(lines, "\n")
	if r.IntN(2) == 0 && text != "" {
		text += "\n"
	}
	kinds := []lineprune.Kind{lineprune.Code, lineprune.Logs, lineprune.Docs}
	return service.PruneArgs{Text: text, Goal: word(r.IntN(11)) + " " + word(r.IntN(30)), Kind: kinds[r.IntN(3)],
		Options: service.PruneOptions{
			MaxPruneRatio: float64(r.IntN(101)) / 100, MinKeepLines: r.IntN(60), Timeout: time.Minute,
			Numbers: r.IntN(2) == 0, Markers: r.IntN(3) > 0,
		}}
}

// Where min_keep_lines is 0 one line stays, of any text and for any question.
func TestPruneKeepsOneLine(t *testing.T) {
	s := newService(t, service.Settings{})
	for name, text := range map[string]string{
		"one line": "[" + strings.Repeat(`{"id":1,"state":"open"},`, 500) + "{}]", "equal lines": strings.Repeat("all is well\n", 500), "blank lines": strings.Repeat(" \n", 500),
	} {
		for _, goal := range []string{needleGoal, "state", "zzz"} {
			res := prune(t, s, ask(text, goal))
			assert.NotZero(t, res.Stats.KeptLines, "%s: %s", name, goal)
			low := 1.0
			code, err := s.PruneCode(t.Context(), service.CodeArgs{Code: text, Query: goal, Threshold: &low})
			require.NoError(t, err)
			assert.NotEmpty(t, code.KeptFrags, "%s: %s", name, goal)
		}
	}
}

func TestPruneKeepsTheAnswer(t *testing.T) {
	s := newService(t, service.Settings{})
	text := haystack(600)
	res := prune(t, s, ask(text, needleGoal))
	assert.Contains(t, res.PrunedText, "the quaternion normaliser divides")
	assert.Greater(t, res.Stats.PrunedRatio, 0.5)
	assert.False(t, res.Stats.UsedFallback)
	assert.Less(t, res.Stats.TokensEstAfter, res.Stats.TokensEstBefore)
	assert.Equal(t, "heuristic", res.Stats.Backend)
}

// A text the goal says nothing about is not guessed at.
func TestPruneWithoutConfidence(t *testing.T) {
	text := haystack(300)
	res := prune(t, newService(t, service.Settings{}), ask(text, "zebra crossing"))
	assert.Equal(t, text, res.PrunedText)
	assert.Contains(t, res.Warnings, lineprune.LowConfidence)
	assert.False(t, res.Stats.UsedFallback)
}

func TestPruneFailsOpen(t *testing.T) {
	text := haystack(400)
	slow := ask(text, needleGoal)
	slow.Options.Timeout = time.Nanosecond
	greedy := ask(text, needleGoal)
	greedy.Options.MinKeepLines = 402
	for name, tc := range map[string]struct {
		settings service.Settings
		args     service.PruneArgs
		warning  string
	}{
		"too large":         {service.Settings{MaxInputChars: len(text) - 1}, ask(text, needleGoal), service.InputTooLarge},
		"too slow":          {service.Settings{}, slow, service.TimedOut},
		"limits impossible": {service.Settings{}, greedy, lineprune.ConstraintsUnmet},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, tc.settings)
			tc.args.Options.Numbers = true
			res := prune(t, s, tc.args)
			assert.Equal(t, []string{tc.warning}, res.Warnings)
			assert.True(t, res.Stats.UsedFallback)
			assert.Equal(t, "noop", res.Stats.FallbackKind)
			requireContract(t, s, tc.args, res)
		})
	}
}

func TestPruneCountsCharactersNotBytes(t *testing.T) {
	text := strings.Repeat("é", 100)
	s := newService(t, service.Settings{MaxInputChars: 100})
	assert.NotContains(t, prune(t, s, ask(text, "g")).Warnings, service.InputTooLarge)
	assert.Contains(t, prune(t, s, ask(text+"é", "g")).Warnings, service.InputTooLarge)
}

// What cannot be recovered is not pruned.
func TestPruneNeedsTheStore(t *testing.T) {
	s := newService(t, service.Settings{Store: newStore(t, recovery.Settings{MaxBytes: 1000})})
	text := haystack(400)
	res := prune(t, s, ask(text, needleGoal))
	assert.Equal(t, text, res.PrunedText)
	assert.Equal(t, []string{service.RecoveryUnavailable}, res.Warnings)
	assert.True(t, res.Stats.UsedFallback)
	assert.Regexp(t, `^prn_[0-9a-f]{32}$`, res.PruneID)
}

func TestPruneWaitsForItsTurnWithinItsTime(t *testing.T) {
	s := newService(t, service.Settings{})
	release := s.Hold()
	a := ask(haystack(400), needleGoal)
	a.Options.Timeout = 30 * time.Millisecond
	start := time.Now()
	res := prune(t, s, a)
	assert.Equal(t, []string{service.TimedOut}, res.Warnings)
	assert.Less(t, time.Since(start), time.Minute)
	release()
	a.Options.Timeout = time.Minute
	assert.NotContains(t, prune(t, s, a).Warnings, service.TimedOut)
}

func TestHealthWaitsForNobody(t *testing.T) {
	s := newService(t, service.Settings{Version: "1.2.3"})
	defer s.Hold()()
	h := s.Health()
	assert.Equal(t, "healthy", h.Status)
	assert.Equal(t, "mcp-pruner", h.Server)
	assert.Equal(t, "1.2.3", h.Version)
	assert.True(t, h.ModelLoaded)
	_, err := time.Parse(time.RFC3339, h.Timestamp)
	assert.NoError(t, err)
}

func TestPruneEndsWithItsCaller(t *testing.T) {
	s := newService(t, service.Settings{})
	defer s.Hold()()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.PruneText(ctx, ask("a", "b"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = s.PruneCode(ctx, service.CodeArgs{Code: "a", Query: "b"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestPruneCleansReasons(t *testing.T) {
	s := newService(t, service.Settings{})
	res := prune(t, s, ask(haystack(400), "quaternion⟧\n⟦PRUNÉ: prune_id=prn_x lignes 1-2 (2) raison=x⟧"))
	for _, a := range res.Annotations {
		assert.NotContains(t, a.Marker, "\n")
		assert.Equal(t, 1, strings.Count(a.Marker, "⟧"))
		assert.True(t, strings.HasSuffix(a.Marker, "raison="+a.Reason+"⟧"))
	}
}

func recoverText(t *testing.T, s *service.Service, a service.RecoverArgs, limit int) (service.RecoverResult, error) {
	t.Helper()
	found, err := s.Recover(t.Context(), a, 0)
	if err != nil {
		return service.RecoverResult{}, err
	}
	return found.Page(t.Context(), limit)
}

func TestRecoverText(t *testing.T) {
	s := newService(t, service.Settings{})
	id := prune(t, s, ask("a\nb\nc\nd\ne", "g")).PruneID
	asked := []recovery.Range{{Start: 4, End: 99}}
	res, err := recoverText(t, s, service.RecoverArgs{PruneID: id, Ranges: asked, Numbers: true}, 0)
	require.NoError(t, err)
	assert.Equal(t, service.RecoverResult{RawText: "4│ d\n5│ e", Metadata: service.RecoverMetadata{
		PruneID: id, Ranges: asked, LineNumbering: "original", TotalLines: 5,
	}}, res)
	var missing *recovery.NotFound
	_, err = recoverText(t, s, service.RecoverArgs{PruneID: "prn_x", Ranges: []recovery.Range{{Start: 0}}}, 0)
	require.ErrorAs(t, err, &missing, "the id is checked first")
	var bad *recovery.BadRange
	_, err = recoverText(t, s, service.RecoverArgs{PruneID: id, Ranges: []recovery.Range{{Start: 1, End: 1}, {Start: 9, End: 9}}}, 0)
	require.ErrorAs(t, err, &bad)
	var large *service.AnswerTooLarge
	_, err = recoverText(t, s, service.RecoverArgs{PruneID: id, Ranges: slices.Repeat([]recovery.Range{{Start: 1, End: 5}}, 1001)}, 0)
	require.ErrorAs(t, err, &large, "each of them may be searched for a pattern")
	_, err = recoverText(t, s, service.RecoverArgs{PruneID: id, Ranges: slices.Repeat([]recovery.Range{{Start: 1, End: 5}}, 1000)}, 0)
	require.NoError(t, err)
}

// Shorter counts in characters as well as in bytes.
func TestPruneNeverLengthens(t *testing.T) {
	s := newService(t, service.Settings{})
	shortened := 0
	for gap := 1; gap < 40; gap++ { // lines between two that answer
		var b strings.Builder
		for i := range 30 {
			b.WriteString("修复 空指针 异常 的 位置\n")
			for k := range gap {
				fmt.Fprintf(&b, "第%d行%d\n", i, k)
			}
		}
		numbered := ask(b.String(), "空指针 异常")
		numbered.Options.Numbers = true
		res := prune(t, s, ask(b.String(), "空指针 异常"))
		require.Equal(t, kept(res), kept(prune(t, s, numbered)), "gap %d", gap)
		require.LessOrEqual(t, len([]rune(res.PrunedText)), len([]rune(b.String())), "gap %d", gap)
		require.LessOrEqual(t, len(res.PrunedText), b.Len(), "gap %d", gap)
		if len(res.Annotations) > 0 {
			shortened++
		}
	}
	assert.Positive(t, shortened)
}

// A store that somebody else holds counts towards the time limit.
func TestPruneWaitsForTheStoreWithinItsTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := store.OpenOriginals(path, recovery.Settings{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	s := newService(t, service.Settings{Store: store})
	other, err := sql.Open("sqlite", path+"?_txlock=immediate")
	require.NoError(t, err)
	defer func() { _ = other.Close() }()
	held, err := other.Begin()
	require.NoError(t, err)

	a := ask(haystack(400), needleGoal)
	a.Options.Timeout = 50 * time.Millisecond
	start := time.Now()
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			res, err := s.PruneText(t.Context(), a)
			assert.NoError(t, err)
			assert.Equal(t, a.Text, res.PrunedText)
			assert.Equal(t, []string{service.TimedOut, service.RecoveryUnavailable}, res.Warnings)
			assert.Equal(t, "noop", res.Stats.FallbackKind)
		})
	}
	all.Wait()
	assert.Less(t, time.Since(start), 2*time.Second, "as long as the store would wait without a time of its own")

	require.NoError(t, held.Rollback())
	a.Options.Timeout = time.Minute
	assert.NotEmpty(t, prune(t, s, a).Annotations)
}
