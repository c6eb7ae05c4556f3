package lineprune

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// searchForm is a form in which a search shows the file of its matches as a heading.
type searchForm struct {
	before, heading, match, between, after string
}

// searchForms are the forms of clients' own searches and of command-line tools.
var searchForms = map[string]searchForm{
	"opencode": {before: "Found %d matches\n", heading: "/home/u/app/%s:\n", match: "  Line %d: %s\n\n",
		after: "\n(Results truncated: showing 100 of 200 matches.)\n"},
	"Gemini CLI":       {before: "Found %d matches for pattern \"retry\" in path \".\":\n---\n", heading: "File: %s\n", match: "L%d: %s\n", between: "---\n"},
	"rg --heading":     {heading: "%s\n", match: "%d:%s\n", between: "\n"},
	"git grep":         {heading: "%s\n", match: "%d:%s\n"},
	"SWE-agent":        {before: "Found %d matches in /home/u/app:\n", heading: "File: /home/u/app/%s (9 matches):\n", match: "Line %d:%s\n", between: "\n"},
	"lines of context": {heading: "src/%s\n", match: "%d-%s\n", between: "\n"},
}

var searchedFiles = []string{"ledger.go", "internal/retry.go", "store/disk store.go", "docs/limits.md"}

// headedList returns a list of matches in a form.
func headedList(r *rand.Rand, f searchForm) string {
	var b strings.Builder
	files := searchedFiles
	if !strings.HasSuffix(f.heading, ":\n") && !strings.HasPrefix(f.heading, "File: ") { // only a marked path may have spaces
		files = slices.Concat(files[:2], files[3:])
	}
	if f.before != "" {
		fmt.Fprintf(&b, f.before, 100)
	}
	for i, file := range files {
		if i > 0 {
			b.WriteString(f.between)
		}
		fmt.Fprintf(&b, f.heading, file)
		number := 1
		for range 3 + r.Intn(40) {
			number += 1 + r.Intn(20)
			fmt.Fprintf(&b, f.match, number, fmt.Sprintf("\treturn %s(ctx, attempt%d) // %s", []string{"retry", "send", "wait"}[r.Intn(3)], r.Intn(90), file[:3]))
		}
	}
	b.WriteString(f.after)
	return b.String()
}

// Every kept match of a list stands below the name of its file, and no name stands without a match, whatever the question,
// the kind that the caller names and the limits.
func TestMatchesStayBelowTheNameOfTheirFile(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	questions := []string{"where is a retry sent", "what waits in the ledger", "attempt7", "which limits hold for the disk store"}
	for name, form := range searchForms {
		cut := 0
		for round := range 60 {
			text := headedList(r, form)
			opts := Options{}
			if round%3 == 1 {
				opts.Budget = []float64{0.05, 0.1, 0.2, 0.5}[r.Intn(4)]
			}
			if round%2 == 1 {
				opts.Call = session.Origin{Tool: "grep", Args: map[string]any{"pattern": "retry|send|wait"}, Asked: round%4 == 1}
			}
			res := prune(t, text, questions[r.Intn(len(questions))], Grep, opts)
			requireSound(t, text, opts, res)
			if !res.Whole() {
				cut++
			}
			requireHeaded(t, name, text, res)
		}
		require.Greater(t, cut, 20, name)
	}
}

func requireHeaded(t *testing.T, name, text string, res Result) {
	t.Helper()
	lines := doc.Lines(text)
	file, shown, matches := "", "", 1
	kept := 0
	for i, line := range lines {
		isFile := slices.ContainsFunc(searchedFiles, func(f string) bool { return strings.Contains(line, f) && !strings.Contains(line, "return") })
		if isFile {
			file = line
		}
		if kept == len(res.Kept) || res.Kept[kept] != i+1 {
			if strings.HasPrefix(line, "Found ") || strings.HasPrefix(line, "(Results") {
				t.Fatalf("%s: lost %q", name, line)
			}
			continue
		}
		kept++
		switch {
		case isFile:
			require.Positive(t, matches, "%s: %q has no match", name, shown)
			shown, matches = line, 0
		case strings.Contains(line, "return"):
			require.Equal(t, file, shown, "%s: %q stands below another file", name, line)
			matches++
		}
	}
	require.Positive(t, matches, "%s: %q has no match", name, shown)
}

// A search is recognised by its form where nothing else says that the text is one. Other texts with numbers are not.
func TestFormsOfSearches(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for name, form := range searchForms {
		require.Equal(t, Grep, prune(t, headedList(r, form), "retry", Auto, Options{}).Kind, name)
		require.Equal(t, Grep, prune(t, headedList(r, form), "retry", Auto, Options{Command: "rg --heading -n 'retry|send'"}).Kind, name)
	}
	for name, text := range map[string]string{
		"a linter":      strings.Repeat("/home/u/app/a.ts\n  12:5  error  'x' is never used  no-unused-vars\n  14:9  error  Missing semicolon  semi\n\n", 20),
		"a log":         strings.Repeat("server.log\n12:30:05 request served\n12:30:06 request served\n12:30:07 request served\n", 20),
		"ports in YAML": strings.Repeat("web.internal:\n  80: http\n  443: https\n", 1) + strings.Repeat("name: web\nimage: web\nhost: h\n", 30),
	} {
		require.NotEqual(t, Grep, prune(t, text, "error", Auto, Options{}).Kind, name)
	}
}
