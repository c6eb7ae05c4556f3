package lineprune

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// orders returns a table of n orders.
func orders(n int) string {
	var b strings.Builder
	b.WriteString("order_id,customer,country,amount\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,customer-%d,%s,%d.50\n", 4000+i, i%97, []string{"JP", "DE", "US"}[i%3], i*7%1000)
	}
	return b.String()
}

// A single term that many rows share does not answer a question for a number.
func TestNumbersAreComputedNotRead(t *testing.T) {
	for _, question := range []string{
		"how many orders came from JP", "which order has the highest amount", "what is the total amount of customer-12", "list all orders of customer-12",
	} {
		res := prune(t, orders(800), question, Auto, Options{File: "orders.csv"})
		require.True(t, res.Whole(), question)
		require.Equal(t, []string{NeedsAll}, res.Warnings, question)
		require.Equal(t, "not pruned: count or compare with `awk`, `jq` or `grep -c` rather than by reading", res.Note)
	}
	kept, res := keptText(t, orders(800), "order_id 4711", Options{File: "orders.csv"})
	require.False(t, res.Whole())
	require.Less(t, len(res.Kept), 12)
	require.True(t, kept["order_id,customer,country,amount"], "the header")
	require.True(t, kept["4711,customer-32,JP,977.50"])
}

func TestJudgementsTakeTheWholeText(t *testing.T) {
	for _, question := range []string{"are there any bugs?", "is this code correct", "review this file"} {
		res := prune(t, program("func websocket() {", "\tbeta(gamma)", "}"), question, Code, Options{})
		require.True(t, res.Whole(), question)
		require.Equal(t, "not pruned: it takes every line to judge it", res.Note)
	}
}

func TestAnOverviewIsTheOutline(t *testing.T) {
	text := "// Package depot keeps parcels.\npackage depot\n\n"
	for i := range 30 {
		text += fmt.Sprintf("// Step%d does its part.\nfunc Step%d() {\n\tbeta(%d)\n\tgamma(%d)\n\tdelta(%d)\n\tepsilon(%d)\n\tzeta(%d)\n}\n\n", i, i, i, i, i, i, i)
	}
	for _, question := range []string{"give me an overview of this file", "what does this file do", "list all functions"} {
		kept, res := keptText(t, text, question, Options{File: "depot.go"})
		require.False(t, res.Whole(), question)
		require.Less(t, len(res.Kept), 90, question)
		require.True(t, kept["// Package depot keeps parcels."], question)
		for i := range 30 {
			require.True(t, kept[fmt.Sprintf("func Step%d() {", i)], "%s: %d", question, i)
		}
	}
}

// A budget is filled even if no term of the question occurs: with the opening and outline of the text, and
// a note that nothing matched.
func TestMatchlessQuestionUnderABudgetSaysSo(t *testing.T) {
	text := strings.Repeat("package a\n\nfunc first() {\n\tcompute(1)\n}\n\nfunc second() {\n\tcompute(2)\n}\n", 20)
	for question, note := range map[string]string{
		"what matters here":            "no part of it clearly answers",
		"which violins are tuned":      "nothing in it matches",
		"where does the first violins": "`violins` is nowhere in it",
	} {
		res := prune(t, text, question, Code, Options{Budget: 0.3})
		require.Equal(t, []string{LowConfidence}, res.Warnings, question)
		require.Contains(t, res.Note, note, question)
		require.Greater(t, len(res.Kept), 10, question)
	}
	res := prune(t, text, "func second", Code, Options{Budget: 0.3})
	require.Empty(t, res.Warnings)
	require.Empty(t, res.Note)
}

// The second part asks for words that most of the file has, so that its answer scores little beside the
// first one's.
func TestEveryPartOfAQuestionIsAnswered(t *testing.T) {
	var code strings.Builder
	for i := range 60 {
		fmt.Fprintf(&code, "func step%d(parcel Parcel) error {\n\treturn move(parcel, %d)\n}\n\n", i, i)
		switch i {
		case 10:
			code.WriteString("func quarantineHazardousFreight(parcel Parcel) {\n\thazardous.quarantine(freight(parcel))\n}\n\n")
		case 45:
			code.WriteString("func stampParcel(parcel Parcel) {\n\tparcel.stamped = true\n}\n\n")
		}
	}
	const first, second = "where is hazardous freight put into quarantine", "who stamps a parcel?"
	for _, opts := range []Options{{}, {Budget: 0.1}} {
		res := prune(t, code.String(), first+", and "+second, Code, opts)
		require.False(t, res.Whole(), res.Note)
		kept := Render(code.String(), res, RenderOptions{})
		require.Contains(t, kept, "hazardous.quarantine(freight(parcel))")
		require.Contains(t, kept, "parcel.stamped = true")
	}
}

// deployments returns a file of nested keys about n services.
func deployments(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\nkind: Deployment\nmetadata:\n  name: service%d\n  labels:\n    team: team%d\nspec:\n  replicas: %d\n  strategy:\n    type: Recreate\n  template:\n    image: registry.example/service%d\n", i, i%5, i%4+1, i)
	}
	return b.String()
}

// A number that a key has is read; a number of records is not.
func TestANumberThatAKeyHasIsRead(t *testing.T) {
	opts := Options{File: "deploy.yaml", Call: session.Origin{Tool: "read", Args: map[string]any{"file_path": "deploy.yaml"}, Asked: true}}
	text := deployments(60)
	_, res := keptText(t, text, "how many replicas does service17 have", opts)
	require.False(t, res.Whole(), "%v", res.Warnings)
	require.Contains(t, res.Kept, 17*12+4, "name: service17")
	require.Contains(t, res.Kept, 17*12+8, "replicas: 2")
	require.Less(t, len(res.Kept), 60)
	for _, question := range []string{"how many deployments are there", "how many team does team1 have"} {
		res := prune(t, text, question, Auto, opts)
		require.Equal(t, []string{NeedsAll}, res.Warnings, question)
	}
}

// Files of nested keys are pruned as the rules say, from the evidence that they need.
func TestKeysAreChosenByTheRules(t *testing.T) {
	var b strings.Builder
	b.WriteString("{\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  \"voucher.message%d.title\": \"text number %d\",\n", i, i)
	}
	b.WriteString("  \"voucher.expired.text\": \"this one is over\"\n}\n")
	opts := Options{File: "en.json", Call: session.Origin{Tool: "read", Args: map[string]any{"file_path": "en.json"}, Asked: true}}
	kept, res := keptText(t, b.String(), "what is the text for an expired voucher", opts)
	require.Less(t, res.Confidence, doc.PreciseConfidence)
	require.True(t, kept[`  "voucher.expired.text": "this one is over"`])
	require.Less(t, len(res.Kept), 50)
}

// Only the first 4,096 bytes of a line are judged. What stands after them is not denied: the note says in which line it is.
func TestANoteDeniesOnlyWhatWasLookedAt(t *testing.T) {
	far := strings.Repeat("alpha beta ", doc.ScoredPrefix/11+1) + "the Violins are tuned"
	rest := strings.Repeat("\ngamma(delta)", 300)
	const nowhere = "nothing in it matches the question; what is kept says what it is about"
	for _, c := range []struct{ text, free, budget string }{
		{far + rest, "`violins` is in line 1, in a part that was not judged", ""},
		{rest[1:] + "\n" + far, "`violins` is in line 301, in a part that was not judged", ""},
		{rest[1:], "`violins` is nowhere in it", nowhere},
		{rest[1:] + "\nsix_violinsolos", "no part of it clearly answers", ""},
	} {
		res := prune(t, c.text, "where are the violins", Code, Options{})
		require.Contains(t, res.Note, "not pruned: "+c.free)
		res = prune(t, c.text, "where are the violins", Code, Options{Budget: 0.3})
		require.Equal(t, cmp.Or(c.budget, "perhaps not the answer: "+c.free), res.Note)
	}
}

// Each word that is looked for takes a pass over the text, in which each line is put into small letters.
func TestANoteSearchesForFewWords(t *testing.T) {
	var q strings.Builder
	for i := range 500 {
		fmt.Fprintf(&q, "a.%d ", i)
	}
	const lines = 3000
	text, err := read(t.Context(), strings.Repeat("Gamma(delta)\n", lines), q.String(), Code, Options{})
	require.NoError(t, err)
	passes := testing.AllocsPerRun(1, func() { missing(text) }) / lines
	require.Less(t, passes, doc.MostNames+1.0)
}
