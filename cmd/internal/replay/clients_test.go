package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// TestBillOfEachClient works out one bill from each form of transcript that is read. opencode and Gemini CLI have none
// of their own here: their sessions are read as a collection.
func TestBillOfEachClient(t *testing.T) {
	for _, c := range []struct {
		name  string
		total float64
		lines string
	}{
		// 7 + 100*1.25 + 1000*0.1 + 9*5 = 277; the last line of an answer has its output.
		{"Claude Code", 277, `{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":1},"content":"a"}}
{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":9},"content":"b"}}`},
		// The main thread alone: what a sub-agent used (m2) is in the bill of its own transcript.
		{"Claude Code beside a sub-agent", 277, `{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":7,"cache_creation_input_tokens":100,"cache_read_input_tokens":1000,"output_tokens":9},"content":"a"}}
{"type":"assistant","isSidechain":true,"agentId":"x","sessionId":"s","message":{"id":"m2","usage":{"input_tokens":5000,"output_tokens":50},"content":"b"}}`},
		// 5000 + 50*5 = 5250
		{"a sub-agent of Claude Code", 5250, `{"type":"assistant","isSidechain":true,"agentId":"x","sessionId":"s","message":{"id":"m2","usage":{"input_tokens":5000,"output_tokens":50},"content":"b"}}`},
		// Codex counts the cached tokens in its input: (1000-600)*1 + 600*0.1 + 30*5 = 610.
		{"Codex", 610, `{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}}
{"type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1000,"cached_input_tokens":600,"output_tokens":30}}}}`},
		// 10 + 20*1.25 + 30*0.1 + 4*5 = 58
		{"a collection", 58, `{"id":"s","src":"opencode","steps":[{"k":"call","usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":4}}]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bills []float64
			require.NoError(t, sessions.Read(t.Context(), "s.jsonl", strings.NewReader(c.lines+"\n"), func(s sessions.Session) error {
				b := newBill(s, DefaultPrices)
				assert.True(t, b.measured)
				bills = append(bills, b.total)
				return nil
			}))
			require.Len(t, bills, 1)
			assert.InDelta(t, c.total, bills[0], 1e-9)
		})
	}
}

// needsAfter returns the lines of a result that what follows needs, with the rule of each; between them are so many calls.
func needsAfter(tool string, args map[string]any, out string, calls int, then sessions.Step) map[int]rule {
	steps := []sessions.Step{{Kind: sessions.Call}, {Kind: sessions.Result, ID: "a", Tool: tool, Args: args, Out: out}}
	for range calls {
		steps = append(steps, sessions.Step{Kind: sessions.Call})
	}
	found := map[int]rule{}
	for _, n := range billed(append(steps, then)).gold()[0] {
		found[n.line] = n.rule
	}
	return found
}

// TestEachRuleOfNeed has for each row of the table in docs/BILL.md the evidence and what just fails to be evidence.
func TestEachRuleOfNeed(t *testing.T) {
	out := "first := openConnection()\nsecond line, which is long enough to be quoted\nthird line, which is long enough to be copied\nfourth one here\nfifth one here\n"
	words := func(s string) sessions.Step { return sessions.Step{Kind: sessions.Say, Text: s} }
	edit := func(old, new string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Edit", Args: map[string]any{"file_path": "/r/a.txt", "old_string": old, "new_string": new}}
	}
	bash := func(s string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Bash", Args: map[string]any{"command": s}}
	}
	for _, c := range []struct {
		name  string
		calls int
		then  sessions.Step
		want  map[int]rule
	}{
		{"edit: both lines replaced", 1, edit("fourth one here\nfifth one here", "x"), map[int]rule{3: ruleEdit, 4: ruleEdit}},
		{"edit: stands twice", 1, edit("one here", "x"), map[int]rule{}},
		{"quote-say: 40 calls later", 40, words("second line, which is long enough to be quoted"), map[int]rule{1: ruleQuoteSay}},
		{"quote-say: 41 calls later", 41, words("second line, which is long enough to be quoted"), map[int]rule{}},
		{"quote-say: 13 characters", 1, words("fourth one here"), map[int]rule{}},
		{"quote-code: 30 characters", 1, edit("", "third line, which is long enough to be copied"), map[int]rule{2: ruleQuoteCode}},
		{"quote-code: two short lines", 1, edit("", "fourth one here\nfifth one here"), map[int]rule{3: ruleQuoteCode, 4: ruleQuoteCode}},
		{"quote-code: one short line", 1, edit("", "fourth one here"), map[int]rule{}},
		{"quote-cmd: three lines", 1, bash("third line, which is long enough to be copied\nfourth one here\nfifth one here"), map[int]rule{2: ruleQuoteCmd, 3: ruleQuoteCmd, 4: ruleQuoteCmd}},
		{"quote-cmd: two lines", 1, bash("fourth one here\nfifth one here"), map[int]rule{}},
		{"cite: 4 calls later", 4, words("it is `openConnection` then"), map[int]rule{0: ruleCite}},
		{"cite: 5 calls later", 5, words("it is `openConnection` then"), map[int]rule{}},
		{"cite: without backticks", 1, words("it is openConnection then"), map[int]rule{}},
		{"ident: 6 calls later", 6, bash("rg openConnection"), map[int]rule{0: ruleIdent}},
		{"ident: 7 calls later", 7, bash("rg openConnection"), map[int]rule{}},
		{"fileline", 1, words("see a.txt:4"), map[int]rule{3: ruleFileLine}},
		{"fileline: past the end", 1, words("see a.txt:99"), map[int]rule{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, needsAfter("Bash", map[string]any{"command": "cat /r/a.txt"}, out, c.calls, c.then))
		})
	}
}

// TestNeedsOfSearchesAndListings has the two rules about what is opened next.
func TestNeedsOfSearchesAndListings(t *testing.T) {
	read := func(file string, offset, limit float64) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Read", Args: map[string]any{"file_path": file, "offset": offset, "limit": limit}}
	}
	search := "pkg/a.go:10:one\npkg/a.go:12:two\npkg/a.go:14:three\npkg/a.go:16:four\npkg/b.go:5:other\n"
	listing := "pkg/a.go\npkg/b.go\npkg/c.go\n"
	for _, c := range []struct {
		name  string
		out   string
		calls int
		then  sessions.Step
		want  map[int]rule
	}{
		{"open: three hits", search, 1, read("/r/pkg/a.go", 10, 5), map[int]rule{0: ruleOpen, 1: ruleOpen, 2: ruleOpen}},
		{"open: four hits", search, 1, read("/r/pkg/a.go", 10, 7), map[int]rule{}},
		{"open: another place", search, 1, read("/r/pkg/b.go", 50, 7), map[int]rule{}},
		{"open: 250 lines", search, 1, read("/r/pkg/b.go", 1, 250), map[int]rule{4: ruleOpen}},
		{"open: 251 lines", search, 1, read("/r/pkg/b.go", 1, 251), map[int]rule{}},
		{"open: 7 calls later", search, 7, read("/r/pkg/b.go", 1, 20), map[int]rule{}},
		{"path", listing, 1, read("/r/pkg/b.go", 1, 20), map[int]rule{1: rulePath}},
		{"path: not listed", listing, 1, read("/r/pkg/d.go", 1, 20), map[int]rule{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, needsAfter("Bash", map[string]any{"command": "rg -n x"}, c.out, c.calls, c.then))
		})
	}
}

// TestEdgesOfTheRules has the last line and call that each rule counts, and the first that it does not.
func TestEdgesOfTheRules(t *testing.T) {
	numbered := func(n int) (out string) {
		for i := range n {
			out += fmt.Sprintf("unlike line number %d\n", i+1)
		}
		return out
	}
	words := func(s string) sessions.Step { return sessions.Step{Kind: sessions.Say, Text: s} }
	edit := func(old, new string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Edit", Args: map[string]any{"file_path": "/r/a.txt", "old_string": old, "new_string": new}}
	}
	look := sessions.Step{Kind: sessions.Use, Tool: "Read", Args: map[string]any{"file_path": "/r/pkg/b.go", "offset": 1.0, "limit": 20.0}}
	command := sessions.Step{Kind: sessions.Use, Tool: "Bash", Args: map[string]any{"command": "wxyz\nsecond line here\nthird line here"}}
	const twenty, thirty = "abcdefghij klmnopqrst", "abcdefghij klmnopqrst uvwxyzabcd"
	for _, c := range []struct {
		name  string
		out   string
		calls int
		then  sessions.Step
		want  int
	}{
		{"quote-say: 20 characters", twenty + "\nx\n", 1, words(twenty), 1},
		{"quote-say: 19 characters", twenty[1:] + "\nx\n", 1, words(twenty[1:]), 0},
		{"quote-code: 30 characters", thirty + "\nx\n", 1, edit("", thirty), 1},
		{"quote-code: 29 characters", thirty[1:] + "\nx\n", 1, edit("", thirty[1:]), 0},
		{"quote-code: 40 calls later", thirty + "\nx\n", 40, edit("", thirty), 1},
		{"quote-code: 41 calls later", thirty + "\nx\n", 41, edit("", thirty), 0},
		{"fileline: 40 calls later", "a\nline two\n", 40, words("see a.txt:2"), 1},
		{"fileline: 41 calls later", "a\nline two\n", 41, words("see a.txt:2"), 0},
		{"fileline: four characters", "a\nwxyz\n", 1, words("see a.txt:2"), 1},
		{"fileline: three characters", "a\nxyz\n", 1, words("see a.txt:2"), 0},
		{"edit: 60 lines", numbered(60), 1, edit(numbered(60), "x"), 60},
		{"edit: 61 lines", numbered(61), 1, edit(numbered(61), "x"), 0},
		{"quote-cmd: a line of four characters", "wxyz\nsecond line here\nthird line here\n", 1, command, 3},
		{"open: 6 calls later", "pkg/b.go:5:other\n", 6, look, 1},
		{"open: 7 calls later", "pkg/b.go:5:other\n", 7, look, 0},
	} {
		command := "cat /r/a.txt"
		if strings.HasPrefix(c.name, "open") {
			command = "rg -n x"
		}
		assert.Len(t, needsAfter("Bash", map[string]any{"command": command}, c.out, c.calls, c.then), c.want, c.name)
	}
}
