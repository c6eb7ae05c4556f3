package existing

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Result is one tool result and what is known about it.
type Result struct {
	Call     history.ToolCall
	Args     map[string]any
	Body     Body
	Question string
	Context  []pruneclient.Event // most recent first
	Said     string              // the agent's sentence before the call
	Prompt   string              // the user's latest message
	Careful  bool                // prune only lines that are very unlikely to be needed
	Own      [][2]int            // of a diff, the first and last lines of the hunks that are the agent's own edits

	// Most is the number of tokens that a text may keep of which the client itself would show only a part; 0: the text would be
	// shown whole. Something is then selected from it, whatever it is.
	Most int

	Noted bool // the client shows one range of lines and the others in a note of limited length, as Claude Code does with a Read

	Asked bool // the question was written for this text, by a caller of this program's tools
	Rules bool // rank by the hand-written rules alone, for comparison

	Boldness float64 // factor for the price at which a line is kept; 0 means 1

	Explain bool // Cut.Lines says why each line was kept or not

	Weights *learned.Weights // weights of the ranking; nil: the embedded ones
}

// Known returns a result, whose call and body are set, with what the session knows before the call, and whether it may be pruned at
// all. Hooks, the proxy and replay all decide by it.
func (r Result) Known(log *history.Log, others history.OtherTools) (Result, history.Decision) {
	r.Question, r.Context = log.Question(r.Call), log.Context()
	r.Said, r.Prompt = log.Asking()
	if words := r.Call; r.Most > 0 && words.About != "" { // which often says only what runs
		words.About = ""
		r.Question = r.Call.About + ". " + log.Question(words)
	}
	r.Own = log.OwnHunks(r.Call, r.Body.Lines)
	decision := log.Decide(r.Call, r.Body.Tokens(), others)
	r.Careful = decision.Careful
	return r, decision
}

// Cut is a pruner's decision on a result.
type Cut struct {
	Kind   lineprune.Kind
	Kept   []int             // 1-based lines of the body
	Blocks []lineprune.Block // the omitted ranges, as far as there is more to say of them than their lines
	Total  int

	Openings []lineprune.Opening // what begins in the text, for the marks of gaps

	Lines []lineprune.Line // one per line; only with Result.Explain

	Repeats bool // the header says that the same call again brings all: the call has no effect and takes no time

	Overwritten bool // the lines lack states that a program overwrote, so that the result is shorter although all are kept

	Clipped bool // the longest lines lack their middle

	// For a result with a note.
	Main Window   // the range that the client numbers; the other kept lines are in the note
	Left []Window // ranges that the pruner kept but the note has no room for
}

// Whole reports whether nothing was cut.
func (c Cut) Whole() bool { return c.complete() && !c.Overwritten && !c.Clipped }

// complete reports whether all lines are kept.
func (c Cut) complete() bool { return len(c.Kept) >= c.Total }

// keepAll makes a decision to cut no line.
func (c *Cut) keepAll() {
	c.Kept, c.Blocks, c.Openings, c.Main, c.Left = nil, nil, nil, Window{}, nil
	for n := range c.Total {
		c.Kept = append(c.Kept, n+1)
	}
}

// leaveOut cuts some ranges of a text that stays otherwise.
func (c *Cut) leaveOut(blocks []lineprune.Block) {
	if len(blocks) == 0 {
		return
	}
	c.Blocks, c.Kind = blocks, lineprune.Code // of a list of matches gaps are not marked
	c.Kept = slices.DeleteFunc(c.Kept, func(n int) bool {
		return slices.ContainsFunc(blocks, func(b lineprune.Block) bool { return b.Start <= n && n <= b.End })
	})
}

// DefaultBack is the command by which an agent recovers the original.
const DefaultBack = "mcp-pruner recover"

// ExampleWay is a command of typical length that recovers an original.
const ExampleWay = DefaultBack + " prn_3ddf8b97"

// saves reports whether a cut, with its header and markers, is shorter than the whole.
func (r Result) saves(c Cut) bool {
	return tokens.EstimateWell(Sent(r.Body, c, r.Noted, ExampleWay)) < tokens.EstimateWell(r.Body.Text())
}

// Prune selects the lines to keep.
func Prune(ctx context.Context, r Result) (Cut, error) {
	kind := lineprune.Auto
	opts := lineprune.Options{
		Call: session.Origin{Tool: string(r.Call.Kind), Args: r.Args, Context: r.Context, Careful: r.Careful, Asked: r.Asked, Boldness: r.Boldness,
			Said: r.Said, Prompt: r.Prompt},
		Marker: marker, Weights: r.Weights, Explain: r.Explain,
	}
	if r.Rules {
		opts.Call = session.Origin{}
	}
	if file, _, _ := r.Call.FileRead(); file != "" {
		opts.File = file
	}
	switch r.Call.Kind {
	case history.Grep:
		kind, opts.Marker = lineprune.Grep, nil
	case history.Bash:
		opts.Command = r.Call.Command
	}
	res, err := r.selected(ctx, kind, opts)
	if err != nil {
		return Cut{}, err
	}
	cut := Cut{
		Kind: res.Kind, Kept: res.Kept, Total: res.Total, Blocks: res.Blocks, Openings: res.Openings, Lines: res.Lines,
		Overwritten: r.Body.overwritten != "", Repeats: r.repeats(),
	}
	if !cut.Whole() {
		cut.Kept = r.Body.notices(cut.Kept)
	}
	if r.Call.Kind == history.Bash && !r.Asked && r.Most == 0 && wholeCommands(cut) && !r.Call.Prints() {
		cut.keepAll()
	}
	cut.Clipped = r.isTestLog(res) && r.Body.clips(cut.Kept)
	if slices.Contains(res.Warnings, lineprune.IsDiff) {
		cut.leaveOut(ownBlocks(r.Body.Lines, r.Own, opts.Call, r.Question))
	}
	if r.Noted && !cut.Whole() {
		cut = noted(r.Body, cut, res.Scores)
	}
	if !cut.Whole() && !r.saves(cut) {
		cut.keepAll()
		cut.Overwritten, cut.Clipped = false, false
	}
	return cut, nil
}

// repeats reports whether the header may say that the same call again brings all. Some versions of Claude Code answer a second Read of
// a file themselves, that nothing has changed, which a hook or the proxy then has to complete.
func (r Result) repeats() bool {
	return r.Call.Shows() && !(r.Call.Kind == history.Read && r.Body.NumberedByClaude())
}

// selected runs the pruner. A text of which the client would show only a part gets no more than it may keep, and of that the
// lines of rare forms get a share.
func (r Result) selected(ctx context.Context, kind lineprune.Kind, opts lineprune.Options) (lineprune.Result, error) {
	opts.Diffs = r.Most > 0
	res, err := lineprune.Prune(ctx, r.Body.Code(), r.Question, kind, opts)
	if err != nil || r.Most == 0 {
		return res, err
	}
	rare := r.Body.rare(int(rareShare * float64(r.Most)))
	if r.tooLong(res) {
		opts.Budget = (1 - rareShare) * float64(r.Most) / float64(r.Body.Tokens())
		if res, err = lineprune.Prune(ctx, r.Body.Code(), r.Question, kind, opts); err != nil {
			return res, err
		}
	}
	res.Kept = slices.Compact(slices.Sorted(slices.Values(slices.Concat(res.Kept, rare))))
	return res, nil
}

// tooLong reports whether a selection has more tokens than the text may keep beside the lines of rare forms.
func (r Result) tooLong(res lineprune.Result) bool {
	kept := 0
	for _, n := range res.Kept {
		kept += len(r.Body.Lines[n-1]) + 1
		if kept > maxBytesPerToken*r.Most {
			return true
		}
	}
	return float64(tokens.EstimateWell(r.Body.Shown(res.Kept))) > (1-rareShare)*float64(r.Most)
}

// maxBytesPerToken is more than any text has, so that only short selections are counted.
const maxBytesPerToken = 16

// gapMark has the length of a typical marker; gaps shorter than it are kept.
const gapMark = "... 120-154"

// marker returns a marker as long as that of an omitted range.
func marker(b lineprune.Block) string {
	if b.Records == 0 && b.Place == lineprune.Free {
		return gapMark
	}
	return lineprune.Gap(b, 1)
}

// wholeCommands reports whether a command's output of that kind stays whole: everything except logs and
// lists of matches.
func wholeCommands(c Cut) bool { return c.Kind != lineprune.Logs && c.Kind != lineprune.Grep }

// Header returns the first line of a pruned text: how many lines were kept, and the command way that
// recovers the original.
func Header(c Cut, way string) string {
	again := ""
	if c.Repeats {
		again = callAgain
	}
	switch {
	case c.complete() && c.Overwritten:
		return fmt.Sprintf("[progress shows its last state; all: `%s`%s]", way, again)
	case c.Kind == lineprune.Grep:
		return fmt.Sprintf("[%d of %d lines; all: `%s`%s]", len(c.Kept), c.Total, way, again)
	}
	return fmt.Sprintf("[%d of %d lines; rest: `%s --lines A-B`%s]", len(c.Kept), c.Total, way, again)
}

// callAgain is the other way back: the same call again comes whole.
const callAgain = " or call again"

// header matches the first line that Header writes, with the id in its command.
var header = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^\\[(?:\\d+ of \\d+ lines|progress shows its last state); (?:all|rest): `[^`\n]* (prn_[0-9a-f]{8})(?: --lines A-B)?`(?:" + callAgain + ")?\\]")
})

// CutID returns the id of the original of a pruned text, or "" for a text without a header.
func CutID(text string) string {
	if m := header().FindStringSubmatch(text[:min(len(text), maxFrame)]); m != nil {
		return m[1]
	}
	return ""
}

// Text returns a pruned text for clients that show it unchanged: the header, the kept lines, and a short
// marker for each gap. Matches need no markers, and in numbered lines the numbers show the gaps.
func Text(b Body, c Cut, way string) string {
	var out strings.Builder
	out.WriteString(headLine(c, way))
	if b.Head != "" {
		out.WriteString("\n" + strings.TrimSuffix(b.Head, "\n"))
	}
	next := 1
	for _, n := range c.Kept {
		if n > next {
			out.WriteString(gap(b, c, next, n-1))
		}
		out.WriteString("\n")
		out.WriteString(c.shown(b, n))
		next = n + 1
	}
	if next <= c.Total {
		out.WriteString(gap(b, c, next, c.Total))
	}
	if b.Trailing {
		out.WriteString("\n")
	}
	if b.Tail != "" && b.Mark != "" {
		out.WriteString("\n")
	}
	out.WriteString(b.Tail)
	return out.String()
}

func gap(b Body, c Cut, from, to int) string {
	block := c.omitted(b, from, to)
	switch {
	case c.Kind == lineprune.Grep:
		return ""
	case b.Mark != "":
		return "\n" + lineprune.NumberedGap(block)
	}
	return "\n" + lineprune.Gap(block, b.First)
}

// omitted describes the lines from..to of a body. The pruner's description is used if it left out exactly these.
func (c Cut) omitted(b Body, from, to int) lineprune.Block {
	if i := slices.IndexFunc(c.Blocks, func(b lineprune.Block) bool { return b.Start == from && b.End == to }); i >= 0 {
		return c.Blocks[i]
	}
	block := lineprune.Block{Start: from, End: to, Openings: lineprune.Within(c.Openings, from, to)}
	for _, line := range b.Lines[from-1 : to] {
		block.Size += len(line) + 1
	}
	return block
}

// Window is a range of kept lines, both ends included.
type Window struct{ From, To int }

// Windows lists the ranges of kept lines.
func (c Cut) Windows() []Window {
	var out []Window
	for _, n := range c.Kept {
		if len(out) > 0 && out[len(out)-1].To == n-1 {
			out[len(out)-1].To = n
			continue
		}
		out = append(out, Window{n, n})
	}
	return out
}
