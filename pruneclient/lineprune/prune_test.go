package lineprune

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

func prune(t *testing.T, text, question string, kind Kind, opts Options) Result {
	t.Helper()
	res, err := Prune(context.Background(), text, question, kind, opts)
	require.NoError(t, err)
	return res
}

// filler returns n lines that match no question, to surround the lines under test.
func filler(n int) string { return strings.Repeat("the quick brown fox jumps over it\n", n) }

const patch = `diff --git a/retry.go b/retry.go
--- a/retry.go
+++ b/retry.go
@@ -1,3 +1,3 @@ package retry
-const attempts = 3
+const attempts = 5
`

func TestWhyATextComesBackWhole(t *testing.T) {
	for name, c := range map[string]struct {
		text, question string
		opts           Options
		want           []string
	}{
		"short":               {"one retry\ntwo\nthree", "retry", Options{}, []string{TooShort}},
		"no answer":           {sampleCode(300), "which constellations rise in winter", Options{}, []string{LowConfidence}},
		"all of it":           {strings.Repeat("retry the request until its deadline\n", 80), "retry request deadline", Options{}, []string{NoGain}},
		"patch":               {patch + strings.Repeat(" context of the retry\n", 200), "attempts of the retry", Options{}, []string{IsDiff}},
		"patch with a budget": {patch + strings.Repeat(" context of the retry\n", 200), "attempts", Options{Budget: 0.2}, []string{IsDiff}},
		"minimum beyond it":   {sampleCode(50), "retry", Options{MinKeepLines: 51}, []string{ConstraintsUnmet}},
		"empty":               {"", "retry", Options{}, []string{TooShort}},
	} {
		t.Run(name, func(t *testing.T) {
			res := prune(t, c.text, c.question, Code, c.opts)
			require.True(t, res.Whole())
			require.Equal(t, c.want, res.Warnings)
			require.Equal(t, c.text, Render(c.text, res, RenderOptions{Header: "unused", Marker: ShortMarker}))
		})
	}
}

// A text of near-identical lines is pruned to the ratio that the caller sets: no information can be lost.
func TestAlikeLinesArePrunedToTheRatio(t *testing.T) {
	res := prune(t, strings.Repeat("line 1234\n", 300), "hello world", Docs, Options{LimitRatio: true, MaxPruneRatio: 0.8})
	require.Len(t, res.Kept, 60)
	require.Equal(t, []string{LowConfidence}, res.Warnings)
}

// If all lines score alike and every line may be pruned, none is pruned.
func TestAlikeLinesAreNotAllPruned(t *testing.T) {
	opts := Options{LimitRatio: true, MaxPruneRatio: 1}
	for _, text := range []string{strings.Repeat("line 1234\n", 300), strings.Repeat("\n", 400)} {
		res := prune(t, text, "hello world", Docs, opts)
		require.True(t, res.Whole())
		require.Equal(t, []string{LowConfidence}, res.Warnings)

		survey, err := Look(context.Background(), text, "hello world", Docs, opts)
		require.NoError(t, err)
		require.Equal(t, []int{8}, survey.Keep([]int{7, 3, 5}).Kept)
	}
}

// If the best line is too large to be kept, the whole text is returned: its neighbours alone would look
// like the answer.
func TestBestLineIsNeverLost(t *testing.T) {
	text := filler(40) + "refund(customer) " + strings.Repeat("x += 1; ", 400) + "\n" + filler(40)
	for _, kind := range kinds {
		for _, opts := range []Options{{}, {Marker: ShortMarker}, {LimitRatio: true, MaxPruneRatio: 1}} {
			res := prune(t, text, "refund the customer", kind, opts)
			require.True(t, res.Whole(), kind)
			require.Equal(t, []string{LowConfidence}, res.Warnings)
		}
	}
}

// If no line scores above the others, the text is returned whole.
func TestNoScoresBringTheTextBackWhole(t *testing.T) {
	text := noPruneBegin + "\n" + noPruneEnd + "\n" + filler(100) + "the quaternion line\n" + filler(100)
	s, err := Look(context.Background(), text, "quaternion", Docs, Options{})
	require.NoError(t, err)
	require.False(t, s.Choose().Whole())
	clear(s.Score)
	res := s.Choose()
	require.True(t, res.Whole())
	require.Equal(t, []string{LowConfidence}, res.Warnings)
}

func TestDirectivesProtectWhatTheyEnclose(t *testing.T) {
	for name, c := range map[string]struct {
		block string
		kept  string // a line of the text that must survive
	}{
		"closed":   {noPruneBegin + "\nsecret A\n" + noPruneEnd + "\n", "secret A"},
		"indented": {"   " + noPruneBegin + "  \nsecret A\n\t" + noPruneEnd + "\n", "secret A"},
		"unclosed": {noPruneBegin + "\n" + filler(5) + "secret A\n", "secret A"},
	} {
		t.Run(name, func(t *testing.T) {
			text := sampleDocs(100) + c.block + filler(10)
			res := prune(t, text, "the timeout of paragraph 26", Docs, Options{Budget: 0.1})
			requireKept(t, text, res, c.kept, noPruneBegin)
			require.False(t, res.Whole())
		})
	}
}

func TestDirectivesStandAlone(t *testing.T) {
	text := sampleDocs(100) + "see " + noPruneBegin + " in the manual\nnothing here\n" + noPruneEnd + "\nnothing there\n"
	require.NotContains(t, Sealed(doc.Lines(text)), true, "a line that mentions a directive, and a stray end, protect nothing")
}

func requireKept(t *testing.T, text string, res Result, lines ...string) {
	t.Helper()
	kept := map[string]bool{}
	all := doc.Lines(text)
	for _, k := range res.Kept {
		kept[strings.TrimSpace(all[k-1])] = true
	}
	for _, line := range lines {
		require.True(t, kept[line], "lost %q", line)
	}
}

func TestFencesAreKeptWholeOrNotAtAll(t *testing.T) {
	text := filler(40) + "```sh\n" + strings.Repeat("kettle start\n", 30) + "```\n" + filler(60)
	for _, opts := range []Options{{}, {LimitRatio: true, MaxPruneRatio: 0.7}, {LimitRatio: true, MaxPruneRatio: 0.95}} {
		res := prune(t, text, "kettle start", Docs, opts)
		inside := 0
		for _, k := range res.Kept {
			if k > 40 && k <= 72 {
				inside++
			}
		}
		require.Contains(t, []int{0, 32}, inside)
	}
}

// SPEC C, Protected: error lines of a log are kept whatever the question.
func TestErrorsStayInALog(t *testing.T) {
	text := sampleLog(200) + "ERROR disk\njava.lang.Exception: x\nsome unit failed to start\nOut of memory: Killed process 1\n" + sampleLog(200)
	res := prune(t, text, "how was request 131 served", Logs, Options{})
	require.False(t, res.Whole())
	requireKept(t, text, res, "ERROR disk", "java.lang.Exception: x", "some unit failed to start", "Out of memory: Killed process 1")
}

func TestEnclosingDefinitionIsKept(t *testing.T) {
	text := sampleCode(200) + "class Ledger:\n    def settle(self):\n" + strings.Repeat("        total += 1\n", 40) +
		"        self.notify_auditor(balance)\n" + strings.Repeat("        total -= 1\n", 40)
	res := prune(t, text, "who calls notify_auditor with the balance", Code, Options{})
	requireKept(t, text, res, "self.notify_auditor(balance)", "def settle(self):", "class Ledger:")
}

func TestWordsOfOtherScriptsAreFound(t *testing.T) {
	for _, c := range []struct{ question, line string }{
		{"dépôt", "le dépôt est vide"},
		{"空指针", "修复 空指针 异常"},
		{"DÉPÔT", "un dépôt local"},
		{"alpha bravo charlie delta echoo foxtrot golff hotel quaternion", "the quaternion line"},
	} {
		text := filler(100) + c.line + "\n" + filler(100)
		requireKept(t, text, prune(t, text, c.question, Docs, Options{Budget: 0.1}), c.line)
	}
}

// In a list of paths, only the paths asked for are kept, not their neighbours.
func TestListsOfPaths(t *testing.T) {
	for _, end := range []string{"", ":12"} {
		var b strings.Builder
		for i := range 300 {
			fmt.Fprintf(&b, "src/part%d/file-2026-01-02.go%s\n", i, end)
		}
		text := b.String() + "src/ledger/retry_policy.go" + end + "\n" + b.String()
		kept, _ := keptText(t, text, "where is the retry policy of the ledger?", Options{})
		require.Equal(t, map[string]bool{"src/ledger/retry_policy.go" + end: true}, kept)
		require.True(t, prune(t, text, "how is the websocket throttled?", Auto, Options{}).Whole())
	}
}

func TestExplainSaysWhy(t *testing.T) {
	text := sampleCode(200) + noPruneBegin + "\nkeep me\n" + noPruneEnd + "\n"
	res := prune(t, text, "where is a request retried until its deadline", Code, Options{Budget: 0.3, Explain: true})
	require.Equal(t, "protected: directive or marker", res.Lines[201].Why)
	require.Contains(t, res.Lines[0].Why, "terms: retried, request, until, deadline")
	for i, line := range res.Lines {
		require.NotEmpty(t, line.Why, "line %d", i+1)
	}
}

func TestPruneObeysItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Prune(ctx, sampleCode(10), "retry", Code, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestKindOfAText(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		opts Options
		want Kind
	}{
		"code":             {sampleCode(50), Options{}, Code},
		"logs":             {sampleLog(50), Options{}, Logs},
		"docs":             {sampleDocs(50), Options{}, Docs},
		"grep":             {sampleGrep(50), Options{}, Grep},
		"file name":        {sampleDocs(50), Options{File: "a/notes.log"}, Logs},
		"unknown name":     {sampleLog(50), Options{File: "notes.txt"}, Logs},
		"command":          {"anything\nat all\n", Options{Command: "make test"}, Logs},
		"shown file":       {sampleDocs(50), Options{Command: "cat main.go"}, Code},
		"shown elsewhere":  {sampleDocs(50), Options{Command: "cd a/b && LC_ALL=C cat main.go"}, Code},
		"searched there":   {sampleGrep(50), Options{Command: "cd a; grep -rn retry ."}, Grep},
		"only set":         {sampleDocs(50), Options{Command: "cd a"}, Docs},
		"known name":       {sampleDocs(50), Options{File: "build/Dockerfile"}, Code},
		"known extension":  {sampleDocs(50), Options{File: "build.gradle.kts"}, Code},
		"file of a commit": {sampleDocs(50), Options{Command: "git show HEAD:NOTICE"}, Docs},
		"pytest":           {"===== test session starts =====\n" + strings.Repeat("tests/test_a.py::test_of_it[1] PASSED      [ 10%]\n", 30), Options{}, Logs},
		"image build":      {strings.Repeat("#8 2.1 npm http fetch GET 200 https://example.com/a 12ms\n", 30), Options{}, Logs},
		"ansible":          {strings.Repeat("TASK [install packages of the role] ****\nok: [web-0]\nok: [web-1]\n\n", 30), Options{}, Logs},
		"prose records":    {strings.Repeat("job 007 queued at slot 3 of 8\n", 50) + "  + Exception Group Traceback (most recent call last):\n", Options{}, Logs},
		"only messages":    {strings.Repeat("a/b.go:8:12: undefined: retry\na/b.py:9: error: Incompatible types\n", 30), Options{}, Logs},
		"columns":          {strings.Repeat("a/b.go:8:12:retry(x)\na/b.go:9:3:  retry(x)\na/b.js:7:4: * retries it\n", 30), Options{}, Grep},
		"numbered steps":   {strings.Repeat("1) Set the number of tries.\n\nThe server fails 3 times before it gives up. Then it writes a line.\n\n", 20), Options{}, Docs},
		"numbered tests":   {"  9 passing\n  1 failing\n\n  1) cart adds the prices of all items\n\n" + strings.Repeat("     The server gave up. Then it wrote a line.\n\n", 20), Options{}, Logs},
		"records":          {strings.Repeat("apples 3 kg\n", 50), Options{}, Logs},
		"Japanese page":    {strings.Repeat("# ガイド\n\n四半期に一度これを実行してください。\n\n", 20), Options{}, Docs},
		"accented page":    {strings.Repeat("## État\n\nvoir là-bas\n\n", 20), Options{}, Docs},
		"tags":             {strings.Repeat("<li>All of them</li>\n", 50), Options{}, Code},
		"search":           {sampleGrep(50), Options{Command: "rg -n retry"}, Grep},
		"dates, no paths":  {strings.Repeat("2026-01-02 10:00 INFO x\n", 50), Options{}, Logs},
		"logfmt":           {strings.Repeat("time=\"2026-01-02T10:00:00Z\" level=info msg=x\n", 50), Options{}, Logs},
		"JSON lines":       {strings.Repeat("{\"time\":\"2026-01-02T10:00:00Z\",\"msg\":\"x\"}\n", 50), Options{}, Logs},
		"key and date":     {strings.Repeat("ts:2026-01-02T10:00:00Z x\n", 50), Options{}, Logs},
		"dated names":      {strings.Repeat("db-2026-01-02.tar.gz\n", 50), Options{}, Grep},
		"paths":            {strings.Repeat("src/a.go\nsrc/lib/b.go\n", 50), Options{Command: "find src -name '*.go'"}, Grep},
		"counts":           {strings.Repeat("src/a.go:12\nsrc/lib/b.go:3\n", 50), Options{Command: "rg -c retry"}, Grep},
		"git ls-files":     {".gitignore\nLICENSE\nMakefile\nsrc/[id]/a.go\n" + strings.Repeat("src/a.go\nsrc/lib/b.go\n", 50), Options{Command: "git ls-files"}, Grep},
		"words":            {strings.Repeat("alpha\nbeta\n", 50), Options{}, Logs},
		"paths and a fate": {strings.Repeat("/src/lib/a.d.ts\n", 500) + "src/b.ts(3,5): error TS1\n", Options{Command: "tsc --listFiles"}, Logs},
		"context lines":    {strings.Repeat("a/b.go-7-x := 1\na/b.go:8:retry(x)\na/b.go-9-}\n--\n", 50), Options{}, Grep},
		"Windows paths":    {strings.Repeat("C:\\a\\b.go:8:retry(x)\n", 50), Options{}, Grep},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, structure.KindOf(doc.New(c.text), Auto, c.opts.File, c.opts.Command))
		})
	}
}

func TestMarkersAreOneSafeLine(t *testing.T) {
	m := Marker("prn_1", Block{Start: 3, End: 9, Reason: "evil⟧\n⟦x\r"})
	require.Equal(t, "⟦PRUNÉ: prune_id=prn_1 lignes 3-9 (7) raison=evil   x ⟧", m)
	require.True(t, IsMarker(m))
	require.True(t, IsMarker(ShortMarker(Block{Start: 1, End: 2})))
}

func TestRenderNumbersLinesAndNeverMarkers(t *testing.T) {
	res := Result{Total: 4, Kept: []int{1, 4}, Blocks: []Block{{Start: 2, End: 3}}}
	got := Render("a\nb\nc\nd\n", res, RenderOptions{Header: "[h]", Marker: ShortMarker, Numbers: true})
	require.Equal(t, "[h]\n1│ a\n⟦PRUNÉ: lignes 2-3 (2)⟧\n4│ d\n", got)
}

// The heading of the section that holds a kept line is kept, too, in every markup language.
func TestHeadingsOfManyMarkups(t *testing.T) {
	body := strings.Repeat("The importer creates records when a file arrives in the folder.\n", 40)
	for _, heading := range []string{"## %", "== %", "%\n-----------", "<h2>%</h2>", "    <h3 id=\"b\">%</h3>", "\\section{%}", "\\subsection*{%}", ".SH %"} {
		named := func(name string) string { return strings.Replace(heading, "%", name, 1) + "\n" }
		text := named("Importing") + body + named("Rotating") + body + "Old ones stay valid for a websocket client.\n" + body + named("Appendix") + body
		res := prune(t, text, "how long do old ones stay valid for a websocket client", Docs, Options{})
		require.False(t, res.Whole(), heading)
		first, _, _ := strings.Cut(named("Rotating"), "\n")
		requireKept(t, text, res, strings.TrimSpace(first), "Old ones stay valid for a websocket client.")
	}
}

// Polite phrases in a question neither match nor count as missing.
func TestPolitenessCostsNothing(t *testing.T) {
	text := sampleCode(400) + "func (q *Queue) drainConveyor(limit int) error {\n\treturn q.stopWhenFull(limit)\n}\n\n" + sampleCode(400)
	for asked, whole := range map[string]bool{"drain the conveyor when its queue is full": false, "compose a sonnet about submarines": true} {
		plain := prune(t, text, asked, Code, Options{})
		require.Equal(t, whole, plain.Whole(), asked)
		for _, polite := range []string{
			"Please explain in detail: %s", "I'm trying to understand the following, show me the exact logic responsible: %s",
			"Looking for the relevant snippet and its definition. %s", "Could you tell me what's happening here and describe the overall approach? %s",
			"I'm investigating a bug and want to figure out which portion of this matters. %s Include the surrounding context and any related helpers.",
		} {
			res := prune(t, text, fmt.Sprintf(polite, asked), Code, Options{})
			require.InDelta(t, plain.Confidence, res.Confidence, 0.1, polite)
			require.Equal(t, whole, res.Whole(), polite)
		}
	}
}
