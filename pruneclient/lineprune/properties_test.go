package lineprune

import (
	"fmt"
	"math/big"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// vocabulary holds the lines that random texts are made of: code, prose, blank lines, fences, directives,
// markers.
var vocabulary = []string{"", "", "}", "func retry(n int) error {", "\treturn send(ctx)", "import os", "def parse(line):", "    return 1",
	"# Heading", "```", "Some words about the timeout of a request.", "ERROR request failed", "2026-01-02 10:00:00 INFO served",
	"Traceback (most recent call last):", "  File \"a.py\", line 3", "ValueError: bad", "a/b.go:12:3:\tretry()", "=== RUN   TestA",
	"--- PASS: TestA (0.00s)", "--- FAIL: TestB (0.00s)", noPruneBegin, noPruneEnd, "⟦PRUNÉ: lignes 3-9 (7)⟧", "(filtered 3 lines)",
	"été 空指针 異常", "\r", "x\x00y", strings.Repeat("word ", 60), "\xff\xfe"}

func randomText(r *rand.Rand, lines int) string {
	var b strings.Builder
	for range lines {
		b.WriteString(vocabulary[r.Intn(len(vocabulary))])
		b.WriteByte('\n')
	}
	if r.Intn(2) == 0 {
		return strings.TrimSuffix(b.String(), "\n")
	}
	return b.String()
}

var kinds = []Kind{Auto, Code, Logs, Docs, Grep}

func randomOptions(r *rand.Rand) Options {
	opts := Options{Explain: r.Intn(4) == 0}
	switch r.Intn(4) {
	case 0:
		opts.Budget = float64(1+r.Intn(100)) / 100
	case 1:
		opts.LimitRatio, opts.MaxPruneRatio, opts.MinKeepLines = true, float64(r.Intn(101))/100, r.Intn(50)
	}
	if r.Intn(2) == 0 {
		opts.Marker = ShortMarker
	}
	if r.Intn(2) == 0 {
		opts.Call = session.Origin{Tool: "Bash", Args: map[string]any{"command": "run"}, Asked: r.Intn(2) == 0}
		if r.Intn(2) == 0 {
			opts.Call.Context = []session.Event{{Kind: session.Say, Text: "I look at the retry of a request"}, {Kind: session.Search, Text: "parse"}}
		}
	}
	return opts
}

// eachRandom runs check on a few hundred texts, questions and options.
func eachRandom(t *testing.T, check func(t *testing.T, text, question string, kind Kind, opts Options)) {
	t.Helper()
	r := rand.New(rand.NewSource(1))
	questions := []string{"", "zzzz", "where is the retry of a request", "which test failed and why", "空指针", "`send` timeout?"}
	for range 400 {
		check(t, randomText(r, r.Intn(150)), questions[r.Intn(len(questions))], kinds[r.Intn(len(kinds))], randomOptions(r))
	}
}

// requireSound checks what holds of every result.
func requireSound(t *testing.T, text string, opts Options, res Result) {
	t.Helper()
	lines := doc.Lines(text)
	require.Equal(t, len(lines), res.Total)
	next := 1
	kept := res.Kept
	for _, b := range append(append([]Block(nil), res.Blocks...), Block{Start: res.Total + 1}) {
		for ; next < b.Start; next++ {
			require.NotEmpty(t, kept, "line %d is neither kept nor in a block", next)
			require.Equal(t, next, kept[0])
			kept = kept[1:]
		}
		require.Equal(t, next, b.Start, "blocks overlap")
		if b.End > 0 {
			require.GreaterOrEqual(t, b.End, b.Start)
			next = b.End + 1
		}
	}
	require.Empty(t, kept)
	require.GreaterOrEqual(t, len(res.Kept), min(res.Total, opts.MinKeepLines))
	requireSomething(t, lines, res)
	require.GreaterOrEqual(t, res.Confidence, 0.0)
	require.LessOrEqual(t, res.Confidence, 1.0)
	if opts.Explain {
		require.Len(t, res.Lines, res.Total)
	}
}

// requireSomething checks that a text with lines keeps one, and one that is not blank if it has any.
func requireSomething(t *testing.T, lines []string, res Result) {
	t.Helper()
	visible := func(line string) bool { return strings.TrimSpace(line) != "" }
	if len(lines) > 0 {
		require.NotEmpty(t, res.Kept, "no line is left")
	}
	if slices.ContainsFunc(lines, visible) {
		require.True(t, slices.ContainsFunc(res.Kept, func(n int) bool { return visible(lines[n-1]) }), "only blank lines are left: %v", res.Kept)
	}
}

// A text of one line, however long, is never replaced by a marker, whatever is known and demanded.
func TestOneLineStays(t *testing.T) {
	records := strings.Repeat(`{"id":12345,"title":"the queue is empty","state":"open","labels":["bug","queue"]},`, 200)
	for _, text := range []string{"[" + records + "{}]", strings.Repeat("word ", 2000), "\n\n" + records + "\n\n", "x"} {
		for _, n := range []int{0, 1, 3} { // events of the session
			for _, opts := range []Options{{}, {Budget: 0.01}, {LimitRatio: true, MaxPruneRatio: 1}, {Marker: ShortMarker}, {Marker: ShortMarker, Budget: 0.01}} {
				opts.Call = session.Origin{Tool: "mcp__tracker__list", Args: map[string]any{"state": "open"}, Context: slices.Repeat([]session.Event{{Kind: session.Say, Text: "where is the queue filled?"}}, n)}
				for _, kind := range kinds {
					requireSomething(t, doc.Lines(text), prune(t, text, "why is the queue empty", kind, opts))
				}
			}
		}
	}
}

func TestOutputIsNeverLongerThanTheInput(t *testing.T) {
	eachRandom(t, func(t *testing.T, text, question string, kind Kind, opts Options) {
		opts.Marker = func(b Block) string { return Marker("prn_0123456789abcdef0123456789abcdef", b) }
		res := prune(t, text, question, kind, opts)
		out := Render(text, res, RenderOptions{Marker: opts.Marker})
		require.LessOrEqual(t, len(out), len(text))
		if res.Whole() {
			require.Equal(t, text, out)
		}
	})
}

// Kept lines and blocks partition the text, and the same input gives the same result.
func TestResultsAreSoundAndRepeatable(t *testing.T) {
	eachRandom(t, func(t *testing.T, text, question string, kind Kind, opts Options) {
		a := prune(t, text, question, kind, opts)
		requireSound(t, text, opts, a)
		b := prune(t, text, question, kind, opts)
		require.Equal(t, a, b)
	})
}

// Pruning a pruned text touches no marker, whoever left it.
func TestMarkersSurvive(t *testing.T) {
	eachRandom(t, func(t *testing.T, text, question string, kind Kind, opts Options) {
		res := prune(t, text, question, kind, opts)
		once := Render(text, res, RenderOptions{Header: Header(1, 2, "see the rest"), Marker: ShortMarker})
		again := prune(t, once, "something else entirely", kind, opts)
		lines, kept := doc.Lines(once), map[int]bool{}
		for _, k := range again.Kept {
			kept[k] = true
		}
		for i, line := range lines {
			if IsMarker(strings.TrimSpace(line)) {
				require.True(t, kept[i+1], "lost %q", line)
			}
		}
	})
}

// SPEC C, Limits: pruned <= floor(n*ratio), the ratio being the decimal written.
func TestRatioHoldsForEveryLengthAndRatio(t *testing.T) {
	for n := 0; n <= 130; n++ {
		for percent := 0; percent <= 100; percent++ {
			got := MaxPruned(n, float64(percent)/100)
			require.Equal(t, n*percent/100, got, "n %d ratio %d%%", n, percent)
			require.LessOrEqual(t, float64(got), float64(n)*float64(percent)/100+1e-9)
		}
	}
	for _, ratio := range []string{"0.333", "0.6666666", "0.999999999", "0.1234567"} {
		exact, ok := new(big.Rat).SetString(ratio)
		require.True(t, ok)
		f, _ := exact.Float64()
		for _, n := range []int64{1, 3, 999, 1_000_000, 7_654_321} {
			product := new(big.Rat).Mul(exact, big.NewRat(n, 1))
			want := new(big.Int).Div(product.Num(), product.Denom()).Int64()
			require.Equal(t, int(want), MaxPruned(int(n), f), "%d * %s", n, ratio)
		}
	}
}

func TestLimitsHoldInResults(t *testing.T) {
	text := sampleCode(101)
	for percent := 0; percent <= 100; percent++ {
		for _, minKeep := range []int{0, 1, 40, 101} {
			opts := Options{LimitRatio: true, MaxPruneRatio: float64(percent) / 100, MinKeepLines: minKeep}
			res := prune(t, text, "where is a request retried until its deadline", Code, opts)
			require.LessOrEqual(t, res.Total-len(res.Kept), res.Total*percent/100, fmt.Sprint(opts))
			require.GreaterOrEqual(t, len(res.Kept), minKeep, fmt.Sprint(opts))
		}
	}
}

// Lines that all have the question's words all answer it, however many they are.
func TestWordsOnEveryLineKeepThemAll(t *testing.T) {
	formats := map[string]string{
		"retry":    "retry_%[1]d = retry(%[1]d)\n",
		"GET /api": "10.0.0.1 - - [02/Jan/2026] \"GET /api/orders/%d HTTP/1.1\" 200\n",
	}
	for question, format := range formats {
		for _, n := range []int{100, 511, 512, 513, 3000} {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, format, i)
			}
			for _, kind := range kinds {
				res := prune(t, b.String(), question, kind, Options{})
				requireSound(t, b.String(), Options{}, res)
				require.True(t, res.Whole(), "%s %d %s", question, n, kind)
				require.Equal(t, []string{NoGain}, res.Warnings)

				res = prune(t, b.String(), question, kind, Options{Budget: 0.2})
				require.NotEmpty(t, res.Kept, "%s %d %s", question, n, kind)
			}
		}
	}
}

// A rare word in a large text is found, and its lack is noticed.
func TestOneWordIsEnoughInALargeText(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "2026-01-02T03:04:%02d worker %d took a parcel from shelf %d\n", i%60, i%7, i)
		if i == 12_345 {
			b.WriteString("2026-01-02T03:04:05 the conveyor belt stopped\n")
		}
	}
	for _, kind := range []Kind{Auto, Logs, Code, Docs} {
		res := prune(t, b.String(), "conveyor", kind, Options{})
		require.Contains(t, res.Kept, 12_347, kind)
		require.Less(t, len(res.Kept), 1000, kind)
		res = prune(t, b.String(), "submarine", kind, Options{})
		require.True(t, res.Whole(), kind)
		require.Contains(t, res.Warnings, LowConfidence, kind)
	}
}

func FuzzPrune(f *testing.F) {
	for _, v := range vocabulary {
		f.Add(v+"\n"+v, "retry "+v, 0.3, uint8(1))
	}
	f.Add(sampleLog(60), "why was the upload rejected", 0.2, uint8(2))
	f.Add(sampleGrep(60), "retry", 0.0, uint8(4))
	f.Fuzz(func(t *testing.T, text, question string, budget float64, kind uint8) {
		if !(budget >= 0 && budget <= 1) {
			budget = 0
		}
		opts := Options{Budget: budget, Marker: ShortMarker, Explain: true}
		res := prune(t, text, question, kinds[int(kind)%len(kinds)], opts)
		requireSound(t, text, opts, res)
		require.LessOrEqual(t, len(Render(text, res, RenderOptions{Marker: ShortMarker})), len(text))
	})
}
