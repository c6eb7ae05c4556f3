package replay

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// need is a line that the agent demonstrably used later.
type need struct {
	Line int // 0-based, in the result's body
	Step int // step of the session in which it was first used
	Rule rule

	// earlier lists where the same context had shown the line before. The use is a miss only if the line
	// was cut there, too.
	Earlier []needPlace
}

// needPlace is a line of a result.
type needPlace struct{ Result, Line int }

// rule names the evidence of a use. docs/evidence/BILL.md describes the rules.
type rule string

const (
	ruleEdit       rule = "edit"
	ruleQuoteSay   rule = "quote-say"
	ruleQuoteCode  rule = "quote-code"
	ruleQuoteCmd   rule = "quote-cmd"
	ruleCite       rule = "cite"
	ruleIdent      rule = "ident"
	ruleOpen       rule = "open"
	ruleFileLine   rule = "fileline"
	rulePath       rule = "path"
	RuleRewrite    rule = "rewrite"    // in a file that is written anew, or in a very long edit
	RuleShort      rule = "short"      // an id, a number with a key, a title
	ruleUnderstood rule = "understood" // two identifiers, or a number and its key, in the next sayings
	RuleWide       rule = "wide"       // an identifier; no part of the strict judgement
)

// The number of model calls within which a use counts, and the minimum length of matching text in bytes.
const (
	quoteCalls = 40
	nameCalls  = 4
	lookCalls  = 6

	quoteChars     = 20 // of a line quoted in a message, blanks excluded
	quoteCodeChars = 30 // of a line copied into an edit; two adjacent lines may be shorter
	minLine        = 4  // shorter lines, such as a brace, are no evidence
	maxEditLines   = 60
	maxLookLines   = 250
	maxLookHits    = 3
)

// shownText is a result in the current context.
type shownText struct {
	result int // index among the bill's results
	text   existing.Body
	call   int
	said   int    // sayings of the agent before it
	file   string // the file, if the result is from read
	needs  map[int]need
	wide   map[int]need      // those of the wide rule
	before map[int]needPlace // lines shown before, with the latest place
	known  map[int]bool      // lines that the agent or the user had written before
}

// lineAt is a line of a shown text.
type lineAt struct {
	text *shownText
	line int
	seen bool // it was known before this text showed it
}

// NeedsOf returns for each of the bill's results the lines that the session used later in the same context.
func NeedsOf(b *sessions.Bill) [][]need {
	g := &goldFinder{bill: b, found: make([][]need, len(b.Results))}
	g.reset()
	next := 0
	for i, step := range b.Session.Steps {
		g.step = i
		switch step.Kind {
		case sessions.Call:
			g.call++
		case sessions.Compact:
			g.reset()
		case sessions.User:
			g.know(step.Text)
		case sessions.Say:
			g.understood(step.Text + "\n" + step.Think)
			g.mentioned(step.Text+"\n"+step.Think, nil, nil)
			g.said(step.Text + "\n" + step.Think)
		case sessions.Use:
			step = inner(step)
			call := history.ParseCall(step.Tool, step.Args)
			g.mentioned("", &call, step.Args)
			g.used(call)
		case sessions.Result:
			g.shown(next, step)
			next++
		}
	}
	g.reset()
	return g.found
}

// inner returns a step as that of the one call that a model's code makes, so that its use of earlier lines is seen.
func inner(step sessions.Step) sessions.Step {
	if code, _ := step.Args["input"].(string); step.Tool == agent.CodexCode {
		if tool, args, ok := agent.CodexInner(code); ok {
			step.Tool, step.Args = tool, args
		}
	}
	return step
}

// goldFinder processes a session and keeps track of the texts that the current context shows.
type goldFinder struct {
	bill  *sessions.Bill
	found [][]need
	step  int
	call  int
	says  int // of the agent so far

	texts  []*shownText
	lines  map[string]lineAt // by trimmed line: the latest place that showed it
	idents map[string]*ident
	known  map[string]bool // lines written by the agent or the user
	names  names

	byResult map[int]*shownText
}

// ident is an identifier that a result showed first.
type ident struct {
	text  *shownText // nil: it first appeared elsewhere
	lines []int
}

// reset clears the context and stores the needs found in it.
func (g *goldFinder) reset() {
	for _, t := range g.texts {
		needs := g.found[t.result]
		for _, list := range []map[int]need{t.needs, t.wide} {
			for _, line := range slices.Sorted(maps.Keys(list)) {
				needs = append(needs, list[line])
			}
		}
		g.found[t.result] = needs
	}
	g.texts = nil
	g.lines, g.idents, g.known = map[string]lineAt{}, map[string]*ident{}, map[string]bool{}
	g.byResult, g.names = map[int]*shownText{}, newNames()
}

// mark records the use of a line. Only the first use counts.
func (g *goldFinder) mark(t *shownText, line int, why rule, others ...needPlace) {
	needs := t.needs
	if why == RuleWide {
		needs = t.wide
	}
	if _, ok := needs[line]; ok || line < 0 || line >= len(t.text.Lines) || t.known[line] || len(strings.TrimSpace(t.text.Lines[line])) < minLine {
		return
	}
	needs[line] = need{line, g.step, why, append(g.chain(t, line), others...)}
}

// chain lists the places that showed a line before, latest first.
func (g *goldFinder) chain(t *shownText, line int) []needPlace {
	var chain []needPlace
	for len(chain) < 4 {
		at, ok := t.before[line]
		if !ok {
			return chain
		}
		chain = append(chain, at)
		t, line = g.byResult[at.Result], at.Line
	}
	return chain
}

// know records text that someone wrote. A result that shows it later gives no new information.
func (g *goldFinder) know(text string) {
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); len(line) >= 8 {
			g.known[line] = true
		}
	}
	for _, name := range identifiers(text) {
		if g.idents[name] == nil {
			g.idents[name] = &ident{}
		}
		entry(g.names.wide, name).known = true
	}
	for _, name := range append(numbers(text), shortNames(text, history.Other)...) {
		entry(g.names.short, strings.Trim(name, "@.-")).known = true
	}
}

// shown adds a result to the context.
func (g *goldFinder) shown(index int, step sessions.Step) {
	r := g.bill.Results[index]
	t := &shownText{result: index, text: existing.NewBody(r.Kind, step.Out), call: g.call, said: g.says,
		needs: map[int]need{}, wide: map[int]need{}, before: map[int]needPlace{}, known: map[int]bool{}}
	if step = inner(step); step.Tool != r.Parsed.Tool {
		r.Parsed = history.ParseCall(step.Tool, step.Args)
	}
	t.file, _, _ = r.Parsed.FileRead()
	g.texts = append(g.texts, t)
	g.byResult[index] = t
	for i, line := range t.text.Lines {
		key := strings.TrimSpace(line)
		if len(key) < minLine {
			continue
		}
		if g.known[key] {
			t.known[i] = true
		}
		before, had := g.lines[key]
		if had && before.text == t {
			before.line = -1 // the line is not unique in this text
			g.lines[key] = before
			continue
		}
		if had && before.line >= 0 {
			t.before[i] = needPlace{before.text.result, before.line}
		}
		g.lines[key] = lineAt{t, i, had || g.known[key]}
		if len(key) < 2000 {
			found := identifiers(line)
			g.nameIdents(t, i, found)
			g.index(t, i, line, found, r.Kind)
		}
	}
}

func (g *goldFinder) nameIdents(t *shownText, i int, identifiers []string) {
	for _, name := range identifiers {
		id := g.idents[name]
		if id == nil {
			id = &ident{text: t}
			g.idents[name] = id
		}
		if id.text == t && len(id.lines) < 3 && (len(id.lines) == 0 || id.lines[len(id.lines)-1] != i) {
			id.lines = append(id.lines, i)
		}
	}
}
