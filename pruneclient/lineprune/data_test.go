package lineprune

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// issue is a record as an issue tracker returns it; size is the number of sentences of its text.
func issue(i, size int) map[string]any {
	titles := []string{"the queue is empty after a restart", "crash in the tokenizer", "typo in the guide", "slow startup", "a retried upload loses its last chunk"}
	return map[string]any{
		"number": 100 + i, "thread_id": fmt.Sprintf("t-%d", 7000+i), "title": titles[i%len(titles)], "state": []string{"open", "closed"}[i%2],
		"user":   map[string]any{"login": fmt.Sprintf("dev%d", i%7), "admin": false, "followers": []any{"ann", "bo"}},
		"labels": []any{map[string]any{"name": "bug", "color": "f00"}, map[string]any{"name": "area", "color": "0f0"}},
		"body":   strings.Repeat("It happened once more. ", size),
	}
}

func issues(n, size int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = issue(i, size)
	}
	return list
}

func pretty(t *testing.T, v any, indent string) string {
	t.Helper()
	raw, err := json.MarshalIndent(v, "", indent)
	require.NoError(t, err)
	return string(raw) + "\n"
}

func gapped(text string, res Result) string {
	return Render(text, res, RenderOptions{Marker: func(b Block) string { return Gap(b, 1) }})
}

func marked() Options { return Options{Marker: func(b Block) string { return Gap(b, 1) }} }

const oneIssue = "which issue is about the retried upload, number 119?"

// Forms of the same 24 issues; each is cut to the records that the question names, and every other record is
// counted.
func TestRecordsAreKeptWhole(t *testing.T) {
	list := issues(24, 3)
	var lines, events, yaml strings.Builder
	for _, r := range list {
		raw, err := json.Marshal(r)
		require.NoError(t, err)
		fmt.Fprintf(&lines, "%s\n", raw)
		fmt.Fprintf(&events, "event: message\ndata: %s\n\n", raw)
		i := r.(map[string]any)
		fmt.Fprintf(&yaml, "- number: %d\n  title: %s\n  thread_id: %s\n  user:\n    login: dev\n  labels:\n  - bug\n  - area\n  state: %s\n  body: |\n    It happened twice.\n    And once more.\n",
			i["number"], i["title"], i["thread_id"], i["state"])
	}
	for name, text := range map[string]string{
		"JSON":           pretty(t, list, "  "),
		"JSON, wrapped":  pretty(t, map[string]any{"total_count": 24, "items": list}, " "),
		"JSON, tabs":     pretty(t, list, "\t"),
		"JSON, unspaced": pretty(t, list, ""),
		"JSON, CRLF":     strings.ReplaceAll(pretty(t, list, "  "), "\n", "\r\n"),
		"heading":        "Issues of o/r, page 1:\n" + pretty(t, list, "  ") + "Call again for page 2.\n",
		"JSON lines":     lines.String(),
		"event stream":   events.String(),
		"YAML":           "total: 24\nitems:\n" + yaml.String(),
	} {
		for _, command := range []string{"", "tracker list --json"} {
			t.Run(name+" "+command, func(t *testing.T) {
				if command != "" && name == "JSON lines" {
					t.Skip("lines that a command prints are a log")
				}
				opts := marked()
				opts.Command = command
				res := prune(t, text, oneIssue, Auto, opts)
				out := gapped(text, res)
				require.False(t, res.Whole())
				require.Less(t, len(out), len(text)/2)
				assert.Regexp(t, `number"?: ?119`, out)
				assert.Contains(t, out, "t-7019", "the id of the record")
				assert.Regexp(t, `\.\.\. ?\d+-\d+: \d+ records`, out)
				left := 0
				for _, b := range res.Blocks {
					left += b.Records
				}
				assert.Equal(t, 24, left+strings.Count(out, "thread_id"), "every record is there or counted")
				if strings.HasPrefix(name, "JSON") && name != "JSON lines" {
					assert.True(t, json.Valid([]byte(out)), out)
				}
				if name == "heading" {
					assert.True(t, strings.HasPrefix(out, "Issues of o/r"), out)
				}
			})
		}
	}
}

// A long record loses lines, but neither its identifying fields nor the ones that the question names.
func TestLongRecordsKeepWhatIdentifiesThem(t *testing.T) {
	list := issues(12, 3)
	for _, r := range list {
		r.(map[string]any)["comments"] = slices.Repeat([]any{"unrelated words of somebody about something, at some length, to fill the record"}, 60)
	}
	text := pretty(t, list, "  ")
	out := gapped(text, prune(t, text, "what is the state of the issue about a retried upload?", Auto, marked()))
	require.Less(t, len(out), len(text)/3)
	for _, want := range []string{`"number": 104`, `"thread_id": "t-7004"`, `"title": "a retried upload`, `"state": "open"`} {
		assert.Contains(t, out, want)
	}
	assert.True(t, json.Valid([]byte(out)), out)
}

func TestNamesNestedInRecordsStay(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Service\nmetadata:\n  labels:\n    team: shop\n  name: app-%d\nspec:\n  replicas: %d\n", i, i)
	}
	out := gapped(b.String(), prune(t, b.String(), "replicas of app-31", Auto, marked()))
	assert.Contains(t, out, "  name: app-31\nspec:\n  replicas: 31\n")
	assert.Contains(t, out, "# ... 1-")
	assert.Less(t, len(out), b.Len()/3)
}

// Questions about all records leave the text whole, whatever its form; a count that the text states is found.
func TestQuestionsAboutAllRecordsKeepThemAll(t *testing.T) {
	text := pretty(t, map[string]any{"total": 24, "items": issues(24, 3)}, "  ")
	pods := "NAME        READY   STATUS    AGE\n" + strings.Repeat("app-one     1/1     Running   3d\n", 90)
	for _, text := range []string{text, pods, "title: x\nitems:\n" + strings.Repeat("- number: 1\n  title: the queue\n  state: open\n", 90)} {
		for _, question := range []string{
			"summarize the issues", "how many issues are open?", "list the titles", "compare the issues", "which labels do all issues have?",
			"for each issue, who opened it?", "count the closed ones", "an overview of this",
		} {
			require.True(t, prune(t, text, question, Auto, marked()).Whole(), "%s\n%.60s", question, text)
			known := marked()
			known.Call = session.Origin{Tool: "Bash", Args: map[string]any{"command": "x"}, Context: []session.Event{{Kind: session.Say, Text: "the queue"}}}
			require.True(t, prune(t, text, question, Auto, known).Whole(), "%s\n%.60s", question, text)
		}
	}
}

// Rows stay with the names of their columns, in every kind of table.
func TestRowsKeepTheirHead(t *testing.T) {
	row := func(format, special string) string {
		var b strings.Builder
		for i := range 90 {
			if i == 60 {
				b.WriteString(special + "\n")
			}
			fmt.Fprintf(&b, format+"\n", i, 1900+i)
		}
		return b.String()
	}
	markdown := "| version | year | notes |\n|---|---|---|\n" + row("| %d | %d | many small changes of things |", "| 9.9 | 1815 | the analytical engine |")
	for name, c := range map[string]struct{ text, head string }{
		"CSV":      {"id,year,name\n" + row("%d,%d,somebody else", "77,1815,analytical engine"), "id,year,name\n"},
		"TSV":      {"id\tyear\tname\n" + row("%d\t%d\tsomebody", "77\t1815\tanalytical engine"), "id\tyear\tname\n"},
		"Markdown": {markdown, "| version | year | notes |\n|---|---|---|\n"},
		"on a page": {"# Machines\n\nAbout machines that compute, in the words of somebody who has never seen one.\n\n" + markdown + "\nMore words below the table, which say nothing.\n",
			"| version | year | notes |\n|---|---|---|\n"},
		"aligned": {"NAME      YEAR   AGE\n" + row("app-%-5d %d   3d", "analytical-engine 1815 3d"), "NAME      YEAR   AGE\n"},
		"psql":    {" name | year \n------+------\n" + row(" x%d | %d ", " analytical engine | 1815 "), " name | year \n------+------\n"},
	} {
		t.Run(name, func(t *testing.T) {
			res := prune(t, c.text, "analytical engine 1815", Auto, marked())
			require.False(t, res.Whole(), res.Note)
			out := gapped(c.text, res)
			assert.Contains(t, out, c.head)
			assert.Contains(t, out, "1815")
			assert.Regexp(t, `: (\d+ records|\w+-\d+ \+\d+)\n`, out)
			assert.Less(t, len(out), len(c.text)/2)
		})
	}
}

// JSON whose records cannot be cut between lines stays whole.
func TestJSONThatSharesLinesStaysWhole(t *testing.T) {
	var tangled strings.Builder
	for i := range 60 {
		fmt.Fprintf(&tangled, "  \"number\": %d,\n  \"title\": \"a retried upload\"\n}, {\n", i)
	}
	one, err := json.Marshal(issues(24, 3))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"between brackets": "[{\n" + tangled.String() + "  \"number\": 1\n}]\n",
		"leading commas":   "[ {\"number\": 1}\n" + strings.Repeat(", {\"number\": 119, \"title\": \"retried upload\"}\n", 90) + "]\n",
		"one line":         string(one),
		"a sentence":       "Found 24 issues:\n" + string(one) + "\n",
		"one event":        "event: message\ndata: " + string(one) + "\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			res := prune(t, text, oneIssue, Auto, marked())
			assert.True(t, res.Whole())
			assert.Contains(t, res.Note, "its records share lines")
		})
	}
}

// randomJSON returns a random value with records in it.
func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.Intn(9); {
	case n < 2:
		return issues(r.Intn(12), r.Intn(3))
	case n < 4 && depth > 0:
		list := make([]any, r.Intn(12))
		for i := range list {
			list[i] = randomJSON(r, depth-1)
		}
		return list
	case n < 7 && depth > 0:
		object := map[string]any{}
		for i := range r.Intn(9) {
			object[fmt.Sprintf("%s%d", vocabulary[r.Intn(len(vocabulary))], i)] = randomJSON(r, depth-1)
		}
		return object
	}
	return vocabulary[r.Intn(len(vocabulary))]
}

// JSON remains JSON whatever is asked and demanded. Every kept line is an original one, every record is kept with its
// identifying fields or counted.
func TestCutJSONIsJSON(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	cut := 0
	for range 400 {
		text := pretty(t, randomJSON(r, 3), []string{"", " ", "\t"}[r.Intn(3)])
		opts := randomOptions(r)
		opts.Marker, opts.Explain = marked().Marker, false
		question := []string{oneIssue, "where is the retry of a request", "zzz", "the state of the crash", "dev3"}[r.Intn(5)]
		survey, err := Look(t.Context(), text, question, kinds[r.Intn(3)], opts)
		require.NoError(t, err)
		res := survey.Choose()
		if r.Intn(4) == 0 {
			res = survey.Keep(r.Perm(len(survey.Score)))
		}
		requireSound(t, text, opts, res)
		out := gapped(text, res)
		require.LessOrEqual(t, len(out), len(text))
		if res.Whole() {
			continue
		}
		cut++
		require.True(t, json.Valid([]byte(out)), "%s\n%+v\n%s", question, opts, out)
		kept, lines := 0, doc.Lines(text)
		for _, line := range doc.Lines(out) {
			if IsMarker(strings.TrimSpace(line)) {
				continue
			}
			require.Equal(t, lines[res.Kept[kept]-1], line)
			kept++
		}
		require.Equal(t, strings.Count(out, `"number": `), strings.Count(out, `"thread_id": `), "a record without one of its ids:\n%s", out)
	}
	require.Greater(t, cut, 100)
}

func FuzzCutJSON(f *testing.F) {
	f.Add("[\n {\n  \"id\": 1,\n  \"b\": [\n   1,\n   2\n  ]\n },\n {\n  \"id\": 2\n }\n]", "b", 0.3)
	f.Fuzz(func(t *testing.T, text, question string, budget float64) {
		var v any
		if json.Unmarshal([]byte(text), &v) != nil || strings.Contains(text, "\x1b") || !(budget >= 0 && budget <= 1) {
			t.Skip()
		}
		opts := marked()
		opts.Budget = budget
		res := prune(t, text, question, Code, opts)
		requireSound(t, text, opts, res)
		if out := gapped(text, res); res.Total > 20 && budget == 0 {
			require.True(t, json.Valid([]byte(out)), out)
		}
	})
}
