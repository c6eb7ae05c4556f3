package clearing

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

var update = flag.Bool("update", false, "write what the plan says into the files")

// TestPlan plans each history of testdata/plan: what goes at each turn, what that costs, and where our mark stands. What is said to go at
// one turn is in force in the next ones.
func TestPlan(t *testing.T) {
	files, err := filepath.Glob("testdata/plan/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		require.Len(t, archive.Files, 2, file)
		got := planned(t, string(archive.Files[0].Data))
		if *update {
			archive.Files[1].Data = []byte(got)
			require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o600))
		}
		require.Equal(t, string(bytes.TrimSpace(archive.Files[1].Data)), strings.TrimSpace(got), file)
	}
}

// planned reads a history, one turn a line, and plans it turn by turn. A line has "begins", "cold", "edit FILE", and pieces such as
// "text 100", "thought 500", "result 3000", "file 3000 NAME" or "again 3000"; "x12" before a turn repeats it. The first line has the model
// and the tokens before the turns.
func planned(t *testing.T, text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var model string
	talk := talk{cached: -1, marks: true}
	_, err := fmt.Sscanf(lines[0], "%s base %d", &model, &talk.base)
	require.NoError(t, err)
	talk.binds = tokens.BindsThinking(model, false)
	policy := contextgc.DefaultPolicy()
	policy.Prices = contextgc.PricesFor(model, true, tokens.CacheHour)
	var out strings.Builder
	for _, line := range lines[1:] {
		times := 1
		if strings.HasPrefix(line, "x") {
			_, err := fmt.Sscanf(line, "x%d", &times)
			require.NoError(t, err)
			_, line, _ = strings.Cut(line, " ")
		}
		for range times {
			now, cold := turnOf(t, line)
			talk.turns = append(talk.turns, now)
			talk.cached = plan(talk, policy, false).whole
			if cold {
				talk.cached = 0
			}
			c := plan(talk, policy, true)
			last := &talk.turns[len(talk.turns)-1]
			if last.sent, last.clear = true, c.Clear; cold {
				last.had = 0
			}
			if len(c.Clear) > 0 {
				fmt.Fprintf(&out, "turn %d, mark before item %d: %v go: %s\n", len(talk.turns), talk.frontier(), c.Clear, c.Why)
			}
		}
	}
	c := plan(talk, policy, false)
	fmt.Fprintf(&out, "at the end: mark before item %d, prompt %d, saved %.1f %%\n", talk.frontier(), c.size, -100*c.account.Change())
	return out.String()
}

// turnOf reads a line.
func turnOf(t *testing.T, line string) (now turn, cold bool) {
	now.had = -1
	words := strings.Fields(line)
	next := func() (n int) {
		require.NotEmpty(t, words, line)
		_, err := fmt.Sscan(words[0], &n)
		require.NoError(t, err, line)
		words = words[1:]
		return n
	}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch word {
		case "begins":
			now.begins = true
		case "cold":
			cold = true
		case "edit":
			now.edits, words = append(now.edits, words[0]), words[1:]
		case "text":
			now.text, now.blocks = now.text+next(), now.blocks+1
		case "thought":
			now.items = append(now.items, piece{Item: contextgc.Item{Kind: contextgc.KindThought, Tokens: next()}})
			now.written = len(now.items)
		case "result", "again":
			now.items = append(now.items, piece{Item: contextgc.Item{Kind: contextgc.KindCommand, Tokens: next(), Stub: 30}, returned: word == "again"})
		case "file":
			now.items = append(now.items, piece{Item: contextgc.Item{Kind: contextgc.KindFile, Tokens: next(), Stub: 30, Path: words[0]}})
			words = words[1:]
		default:
			t.Fatalf("unknown word %q in %q", word, line)
		}
	}
	return now, cold
}
