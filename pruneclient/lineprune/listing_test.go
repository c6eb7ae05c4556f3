package lineprune

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// randomListing returns the output of a command in sections, and for each line the number of its heading, or 0.
func randomListing(r *rand.Rand) (text string, heads []int) {
	forms := [][2]string{{"=== PR %d ===", "  "}, {"==> log%d.txt <==", ""}, {"## host%d", ""}, {"--- step %d ---", ""}, {"Name: pod-%d", "  "}, {"job%d:", "  "}}
	form := forms[r.Intn(len(forms))]
	var lines []string
	add := func(line string, head int) {
		lines, heads = append(lines, line), append(heads, head)
	}
	for section := range 3 + r.Intn(30) {
		add(fmt.Sprintf(form[0], 51700+section), 0)
		head := len(lines)
		if strings.HasPrefix(form[0], "Name") {
			add("Node: worker", head)
		}
		for range 1 + r.Intn(12) {
			state := []string{
				"checks: 27 passed, 0 failed, 10 skipped", "state: merged by the queue", "waiting for a free runner of the pool", "timeout of a request",
			}[r.Intn(4)]
			add(form[1]+state, head)
			if form[1] != "" && r.Intn(4) == 0 {
				parent := len(lines)
				add(form[1]+"  detail: "+state, parent)
			}
		}
		if strings.HasPrefix(form[0], "Name") {
			add("", 0)
		}
	}
	return strings.Join(lines, "\n"), heads
}

// A kept line of a listing brings its heading, whatever the question and the limits; a question that names a section or an
// element finds it; and of equal lines the first stays.
func TestKeptLinesBringTheirHeading(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	questions := []string{"which runner waits", "which checks failed and why", "was 51702 merged", "what is the timeout of a request", "state of PR 51701"}
	cut := 0
	for round := range 400 {
		text, heads := randomListing(r)
		opts := Options{Command: "for pr in $list; do show $pr; done"}
		switch round % 4 {
		case 1:
			opts.Budget = []float64{0.1, 0.2, 0.5}[r.Intn(3)]
		case 2:
			opts.Call = session.Origin{Tool: "bash", Args: map[string]any{"command": opts.Command}}
			opts.Call.Context = []session.Event{{Kind: session.Say, Text: "I look at the checks"}}
		case 3:
			opts.Call, opts.Marker = session.Origin{Tool: "bash", Args: map[string]any{"command": opts.Command}}, ShortMarker
		}
		question := questions[r.Intn(len(questions))]
		res := prune(t, text, question, Auto, opts)
		requireSound(t, text, opts, res)
		if res.Whole() {
			continue
		}
		cut++
		for _, n := range res.Kept {
			if h := heads[n-1]; h > 0 {
				require.Contains(t, res.Kept, h, "line %d without its heading, asked %q with %+v:\n%s", n, question, opts, text)
			}
		}
	}
	require.Greater(t, cut, 100)
}

// A line that the question names stays, although others have more of the question's words.
func TestWhatAQuestionNamesStays(t *testing.T) {
	var b strings.Builder
	b.WriteString("uid=45_0 RootWebArea \"Ada Lovelace\"\n")
	for i := range 600 {
		switch {
		case i == 180:
			b.WriteString("  uid=45_181 link \"Charles Babbage\"\n")
		case i%40 == 0:
			fmt.Fprintf(&b, "  uid=45_%d StaticText \"letters and notes of the Royal Society about the analytical engine, its birth date and its author\"\n", i)
		default:
			fmt.Fprintf(&b, "  uid=45_%d StaticText \"a paragraph of another kind, number %d\"\n", i, i)
		}
	}
	text := b.String()
	call := session.Origin{Tool: "bash", Args: map[string]any{"command": "snapshot"}}
	for _, opts := range []Options{{}, {Budget: 0.05}, {Command: "snapshot"}, {Command: "snapshot", Call: call}, {Command: "snapshot", Call: call, Budget: 0.05}} {
		for _, question := range []string{
			"letters and notes of the Royal Society about the analytical engine, its birth date and its author, and then Charles Babbage",
			"letters and notes of the Royal Society about the analytical engine, its birth date and its author, and then uid=45_181",
		} {
			res := prune(t, text, question, Auto, opts)
			require.False(t, res.Whole(), question)
			require.Contains(t, res.Kept, 182, "%s %+v: %v", question, opts, res.Kept)
			require.Contains(t, res.Kept, 1, "the page")
		}
	}
}

// Of the lines that differ at most in the handle of their element the first stays if another does.
func TestOfEqualLinesTheFirstStays(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	cut := 0
	for round := range 200 {
		var lines []string
		for i := range 80 + r.Intn(100) {
			lines = append(lines, fmt.Sprintf("uid=3_%d %s", i, []string{
				"button \"Add to the basket\"", "StaticText \"price of the article\"", "link \"Terms of delivery\"",
				fmt.Sprintf("image \"%d\"", i), "link \"Basket and checkout\"",
			}[r.Intn(5)]))
		}
		opts := Options{Command: "snapshot"}
		if round%2 == 0 {
			opts.Budget = 0.2
		}
		if round%3 == 0 {
			opts.Call = session.Origin{Tool: "bash", Args: map[string]any{"command": "snapshot"}}
		}
		text := strings.Join(lines, "\n")
		word := []string{"basket", "delivery", "price"}[r.Intn(3)]
		res := prune(t, text, "where is the "+word, Auto, opts)
		if !res.Whole() {
			cut++
		}
		first := map[string]int{}
		for i, line := range lines {
			_, name, _ := strings.Cut(line, " ")
			if _, seen := first[name]; !seen {
				first[name] = i + 1
			}
		}
		for _, n := range res.Kept {
			if _, name, _ := strings.Cut(lines[n-1], " "); strings.Contains(strings.ToLower(name), word) {
				require.Contains(t, res.Kept, first[name], "%q on line %d", name, n)
			}
		}
	}
	require.Greater(t, cut, 50)
}
