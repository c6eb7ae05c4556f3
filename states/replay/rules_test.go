package replay

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// needsAfter returns the lines of a result that what follows needs, with the rule of each; between them are so many calls.
func needsAfter(tool string, args map[string]any, out string, calls int, then sessions.Step) map[int]rule {
	steps := []sessions.Step{{Kind: sessions.Call}, {Kind: sessions.Result, ID: "a", Tool: tool, Args: args, Out: out}}
	for range calls {
		steps = append(steps, sessions.Step{Kind: sessions.Call})
	}
	found := map[int]rule{}
	for _, n := range NeedsOf(sessions.NewBill(sessions.Session{Steps: append(steps, then)}, sessions.DefaultPrices))[0] {
		if n.Rule != RuleWide {
			found[n.Line] = n.Rule
		}
	}
	return found
}

// TestEachRuleOfNeed has for each row of the table in docs/evidence/BILL.md the evidence and what just fails to be evidence.
func TestEachRuleOfNeed(t *testing.T) {
	out := "first := openConnection()\nsecond line, which is long enough to be quoted\nthird line, which is long enough to be copied\nfourth one here\nfifth one here\n"
	words := func(s string) sessions.Step { return sessions.Step{Kind: sessions.Say, Text: s} }
	edit := func(old, new string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Edit", Args: map[string]any{"file_path": "/r/a.txt", "old_string": old, "new_string": new}}
	}
	bash := func(s string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Bash", Args: map[string]any{"command": s}}
	}
	write := func(file, text string) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: "Write", Args: map[string]any{"file_path": file, "content": text}}
	}
	patch := func(hunk string) sessions.Step {
		text := "*** Begin Patch\n*** Update File: /r/a.txt\n@@\n" + hunk + "\n*** End Patch\n"
		return sessions.Step{Kind: sessions.Use, Tool: "apply_patch", Args: map[string]any{"input": text}}
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
		{"rewrite: a file is written anew", 50, write("/r/a.txt", "fourth one here\nnew\n  fifth one here"), map[int]rule{3: RuleRewrite, 4: RuleRewrite}},
		{"rewrite: another file", 50, write("/r/b.txt", "fourth one here\nnew\n  fifth one here"), map[int]rule{}},
		{"edit by a patch", 1, patch(" fourth one here\n-fifth one here\n+x"), map[int]rule{3: ruleEdit, 4: ruleEdit}},
		{"edit by a patch elsewhere", 1, patch(" fourth one here\n-fifth one there\n+x"), map[int]rule{}},
		{"fileline: a read has no place in its text", 1, words("see a.txt:4"), map[int]rule{}},
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
		{"fileline: 40 calls later", "a\nin a.txt:2\n", 40, words("see a.txt:2"), 1},
		{"fileline: 41 calls later", "a\nin a.txt:2\n", 41, words("see a.txt:2"), 0},
		{"fileline: another line", "a\nin a.txt:21\n", 1, words("see a.txt:2"), 0},
		{"fileline: it does not stand there", "a\nwxyz\n", 1, words("see a.txt:2"), 0},
		{"edit: 60 lines", numbered(60), 1, edit(numbered(60), "x"), 60},
		{"rewrite: an edit of 61 lines", numbered(61), 1, edit(numbered(61), "x"), 61},
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

// Short names: an id of a record or page, a number with a key, a title. A name that the agent wrote first is no need.
func TestShortNamesAreNeeded(t *testing.T) {
	page := "uid=45_181 link \"Sign up for free\"\nuid=45_182 button \"Search code\"\n  \"number\": 2253,\n  \"stars\": 17\n"
	use := func(tool string, args map[string]any) sessions.Step {
		return sessions.Step{Kind: sessions.Use, Tool: tool, Args: args}
	}
	words := func(s string) sessions.Step { return sessions.Step{Kind: sessions.Say, Text: s} }
	for _, c := range []struct {
		name  string
		calls int
		then  sessions.Step
		want  map[int]rule
	}{
		{"a click", 1, use("mcp__page__click", map[string]any{"uid": "45_181"}), map[int]rule{0: RuleShort}},
		{"a click 40 calls later", 40, use("mcp__page__click", map[string]any{"uid": "45_181"}), map[int]rule{0: RuleShort}},
		{"a click 41 calls later", 41, use("mcp__page__click", map[string]any{"uid": "45_181"}), map[int]rule{}},
		{"a click elsewhere", 1, use("mcp__page__click", map[string]any{"uid": "45_18"}), map[int]rule{}},
		{"a number as an argument", 1, use("mcp__github__get", map[string]any{"issue_number": 2253.0}), map[int]rule{2: RuleShort}},
		{"a number in words", 1, words("issue 2253 it is"), map[int]rule{2: RuleShort}},
		{"a number of two digits in words", 1, words("it has 17 of them"), map[int]rule{}},
		{"a number of two digits with its key", 1, words("it has 17 stars"), map[int]rule{3: ruleUnderstood}},
		{"a title in words", 1, words("press **Sign up for free**"), map[int]rule{0: RuleShort}},
		{"a title without a mark", 1, words("press Sign up for free"), map[int]rule{}},
		{"an id in a command", 1, use("Bash", map[string]any{"command": "page click @45_182"}), map[int]rule{1: RuleShort}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, needsAfter("mcp__page__snapshot", nil, page, c.calls, c.then))
		})
	}
	again := sessions.Step{Kind: sessions.Use, Tool: "mcp__page__click", Args: map[string]any{"uid": "45_181"}}
	steps := []sessions.Step{{Kind: sessions.Call}, {Kind: sessions.User, Text: "click 45_181"}, {Kind: sessions.Result, Tool: "mcp__page__snapshot", Out: page}, again}
	assert.Empty(t, NeedsOf(sessions.NewBill(sessions.Session{Steps: steps}, sessions.DefaultPrices))[0], "the user named it first")
}

// Two identifiers that the agent says soon after it read them were understood there, and are missed only if both are cut.
func TestWhatWasUnderstood(t *testing.T) {
	shown := sessions.Step{Kind: sessions.Result, Tool: "Bash", Args: map[string]any{"command": "cat x"}, Out: "retryBudget is spent\nother\nby openConnection\nand closeIdle\n"}
	say := func(text string) sessions.Step { return sessions.Step{Kind: sessions.Say, Text: text} }
	for name, c := range map[string]struct {
		then []sessions.Step
		want []need
	}{
		"two": {[]sessions.Step{say("so openConnection spends the retryBudget")}, []need{
			{Line: 0, Step: 2, Rule: ruleUnderstood, Earlier: []needPlace{{Line: 2}}}, {Line: 2, Step: 2, Rule: ruleUnderstood, Earlier: []needPlace{{Line: 0}}}}},
		"one":                          {[]sessions.Step{say("so openConnection fails")}, nil},
		"one that is known everywhere": {[]sessions.Step{say("openConnection of GitHub")}, nil},
		"in the saying after the next": {[]sessions.Step{say("well"), say("hm"), say("openConnection spends the retryBudget")}, nil},
	} {
		steps := append([]sessions.Step{{Kind: sessions.Call}, shown}, c.then...)
		var strict []need
		for _, n := range NeedsOf(sessions.NewBill(sessions.Session{Steps: steps}, sessions.DefaultPrices))[0] {
			if n.Rule != RuleWide {
				strict = append(strict, n)
			}
		}
		assert.Equal(t, c.want, strict, name)
	}
}

// An identifier that the agent writes at any later time is a need by the wide rule, at the latest line that shows it; it is
// missed only where all of them are cut.
func TestWideRule(t *testing.T) {
	result := func(out string) sessions.Step {
		return sessions.Step{Kind: sessions.Result, Tool: "Bash", Args: map[string]any{"command": "rg x"}, Out: out}
	}
	steps := []sessions.Step{{Kind: sessions.Call}, result("a := openConnection()\nother"), result("more\nb := openConnection(1)")}
	for range 50 {
		steps = append(steps, sessions.Step{Kind: sessions.Call})
	}
	steps = append(steps, sessions.Step{Kind: sessions.Say, Text: "so openConnection fails"}, sessions.Step{Kind: sessions.Say, Text: "openConnection again"})
	found := NeedsOf(sessions.NewBill(sessions.Session{Steps: steps}, sessions.DefaultPrices))
	assert.Empty(t, found[0])
	assert.Equal(t, []need{{Line: 1, Step: 53, Rule: RuleWide, Earlier: []needPlace{{Result: 0, Line: 0}}}}, found[1])
}
