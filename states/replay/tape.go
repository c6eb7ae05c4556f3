package replay

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Tape is a session as the planner meets it, in sizes instead of texts. It can be played with several planners.
type Tape struct {
	Events []taped
	Items  int
	Binds  bool // the model's thinking is bound to what stands before it
}

// taped is one event of a tape. Which of its fields are set depends on its kind.
type taped struct {
	Kind   tapedKind
	Tokens int
	Item   contextgc.Item
	Number int              // of the item, in the order of the session
	Cached float64          // call: fraction of the prompt before it that the cache still had
	Seen   bool             // call: that the cache had lost a part could be seen before it
	Prices contextgc.Prices // of the call
	Files  []string
	Reads  bool // edit: the model must have the latest items of the files
	Needs  []tapedNeed
}

type tapedKind int

const (
	tapedText    tapedKind = iota
	tapedBase              // system prompt and tools
	tapedItem              // an item enters the prompt
	tapedCall              // a model call
	tapedCompact           // the prompt is emptied
	tapedGone              // the client took an item out
	tapedEdit              // files were edited
	tapedUse               // the model uses lines of items
	tapedTurn              // a turn of the person begins
)

// tapedNeed is a line that the model uses: it lacks it if none of the items that showed it shows it any more.
type tapedNeed struct {
	Item    int // the latest item that showed it, which is read again
	Earlier []int
	Wide    bool
}

// Tape records a session for the policy GC, or for the planner after another policy.
func (f *Figures) Tape(after Policy) Tape {
	if after == GC {
		return f.tape(nil)
	}
	pruned := f.judge(after)
	return f.tape(&pruned)
}

// tape records a session. after is what a hook had cut before, nil if nothing.
func (f *Figures) tape(after *Outcome) Tape {
	r := recorder{Figures: f, begins: true, read: map[string]bool{}, items: map[int]int{}, sizes: map[int]int{}, kept: map[int]map[int]bool{},
		needed: map[int][]resultNeed{}, lines: map[string][]int{}}
	for result, list := range f.needs {
		for _, n := range list {
			r.needed[n.Step] = append(r.needed[n.Step], resultNeed{n, result})
		}
	}
	if after != nil {
		for _, row := range after.rows {
			r.sizes[row.a.result], r.kept[row.a.result] = row.a.kept+row.a.header, lineSet(row.a.cut)
		}
	}
	r.tape.Binds = tokens.BindsThinking(f.Session.Model(), false)
	for i, step := range f.Session.Steps {
		r.take(i, step)
	}
	return r.tape
}

type resultNeed struct {
	need
	result int
}

// recorder writes a tape.
type recorder struct {
	*Figures
	tape Tape

	call, result int  // indexes of the next ones
	tokens       int  // tokens of the texts in the prompt so far
	begins       bool // the next call is the first of a context
	answered     bool // a call of the latest answer has a result
	read         map[string]bool

	items  map[int]int          // by result, its item; only those of this context
	sizes  map[int]int          // of results that a hook cut
	kept   map[int]map[int]bool // their lines
	needed map[int][]resultNeed // by step
	lines  map[string][]int     // by line of a written text, the items that show it
}

func (r *recorder) add(e taped) { r.tape.Events = append(r.tape.Events, e) }

func (r *recorder) text(n int) {
	r.tokens += n
	r.add(taped{Kind: tapedText, Tokens: n})
}

func (r *recorder) item(item contextgc.Item) int {
	r.tokens += item.Tokens
	n := r.tape.Items
	r.tape.Items++
	r.add(taped{Kind: tapedItem, Item: item, Number: n})
	return n
}

func (r *recorder) take(i int, step sessions.Step) {
	switch step.Kind {
	case sessions.User, sessions.Attach:
		r.text(r.Tokens(step.Text))
		if step.Kind == sessions.User && !r.answered {
			r.add(taped{Kind: tapedTurn})
		}
	case sessions.Say:
		r.needs(i)
		r.text(r.OutputTokens(step))
	case sessions.Use:
		r.needs(i)
		r.used(step)
	case sessions.Compact:
		r.add(taped{Kind: tapedCompact})
		r.tokens, r.begins = 0, true
		clear(r.items)
		clear(r.lines)
	case sessions.Call:
		r.called()
	case sessions.Result:
		r.resulted(&r.Results[r.result], step)
		r.result++
		r.answered = true
	}
}

// needs records the lines that a step uses. A line that a hook had cut is the hook's miss.
func (r *recorder) needs(step int) {
	e := taped{Kind: tapedUse}
	for _, n := range r.needed[step] {
		item, shown := r.visible(needPlace{Result: n.result, Line: n.Line})
		if !shown {
			continue
		}
		one := tapedNeed{Item: item, Wide: n.Rule == RuleWide}
		for _, p := range n.Earlier {
			if earlier, ok := r.visible(p); ok {
				one.Earlier = append(one.Earlier, earlier)
			}
		}
		e.Needs = append(e.Needs, one)
	}
	if len(e.Needs) > 0 {
		r.add(e)
	}
}

// visible returns the item that showed a line to the model, if the context still had it without clearing.
func (r *recorder) visible(p needPlace) (item int, ok bool) {
	kept, cut := r.kept[p.Result]
	item, ok = r.items[p.Result]
	return item, ok && (!cut || kept[p.Line])
}

// used records a call's arguments. Those of an edit are an item, and the lines that the edit replaces are needed where the
// model had written them itself.
func (r *recorder) used(step sessions.Step) {
	all := r.OutputTokens(step)
	call := history.ParseCall(step.Tool, step.Args)
	if call.Kind != history.Edit && call.Kind != history.Write {
		r.text(all)
		return
	}
	r.writtenNeeds(call)
	n := min(r.writtenTokens(step.Args), all)
	if n < contextgc.MinWritten {
		r.text(all)
		return
	}
	r.text(all - n)
	written := existing.Written(call, step.Args, "", n)
	written.Pinned = !r.reaches().LeadsToWritten(call)
	item := r.item(written)
	for _, text := range call.Replace {
		r.shows(item, text.New)
	}
}

func (r *recorder) shows(item int, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); len(line) >= 8 {
			r.lines[line] = append(r.lines[line], item)
		}
	}
}

// writtenNeeds records the lines to be replaced that the model knows from its own earlier calls.
func (r *recorder) writtenNeeds(call history.ToolCall) {
	e := taped{Kind: tapedUse}
	for _, text := range call.Replace {
		for line := range strings.SplitSeq(text.Old, "\n") {
			if list := r.lines[strings.TrimSpace(line)]; len(list) > 0 {
				last := len(list) - 1
				e.Needs = append(e.Needs, tapedNeed{Item: list[last], Earlier: list[max(0, last-8):last]})
			}
		}
	}
	if len(e.Needs) > 0 {
		r.add(e)
	}
}

// writtenTokens returns the tokens of the long texts in the arguments of an edit.
func (r *recorder) writtenTokens(value any) int {
	n := 0
	switch v := value.(type) {
	case string:
		if len(v) >= contextgc.WrittenBytes {
			return r.Tokens(v)
		}
	case map[string]any:
		for _, member := range v {
			n += r.writtenTokens(member)
		}
	case []any:
		for _, member := range v {
			n += r.writtenTokens(member)
		}
	}
	return n
}

// called records a model call. For the first call of a context, the difference between its usage and the
// known texts is the size of everything that the transcript does not contain, such as the system prompt.
func (r *recorder) called() {
	this := r.Calls[r.call]
	if r.begins {
		base := sessions.ModelledSystem
		if r.Measured {
			base = max(0, this.Prompt-r.tokens)
		}
		system := r.SystemOf(base)
		r.tokens += system
		r.add(taped{Kind: tapedBase, Tokens: system})
		r.text(base - system)
	}
	e := taped{Kind: tapedCall, Cached: 1, Prices: r.plannerPrices(r.call)}
	if !r.begins && r.call > 0 {
		before := r.Calls[r.call-1]
		r.left()
		e.Cached = contextgc.CachedOf(this.Usage.CacheRead, max(before.Prompt-this.Gone+before.Gone, 0))
		e.Seen = r.Foreseen(r.call)
	}
	r.add(e)
	if this.Hidden > 0 && this.Price.LookBack() > 0 { // in the form of Anthropic's API alone the proxy leaves thinking out
		r.item(contextgc.Item{Kind: contextgc.KindThought, Tokens: this.Hidden})
	} else {
		r.text(this.Hidden)
	}
	r.begins, r.answered = false, false
	r.call++
}

// left records the results that the client took out of the prompt of this call.
func (r *recorder) left() {
	for _, result := range slices.Sorted(maps.Keys(r.items)) {
		if n := r.Results[result].Until; n > 0 && n == r.call {
			r.add(taped{Kind: tapedGone, Number: r.items[result]})
			delete(r.items, result)
		}
	}
}

func (r *recorder) resulted(result *sessions.ResultCost, step sessions.Step) {
	if files := r.edits(result.Parsed); len(files) > 0 {
		r.add(taped{Kind: tapedEdit, Files: files, Reads: true})
	}
	item := existing.Item(result.Parsed, step.Args, step.Out, result.Tokens)
	item.Pinned = !r.reaches().Leads(result.Parsed)
	if item.Path != "" {
		r.read[item.Path] = true
	}
	if size, cut := r.sizes[r.result]; cut {
		item.Tokens = size
	}
	number := r.item(item)
	r.items[r.result] = number
	for _, line := range strings.Split(step.Out, "\n") { // of what the model wrote itself
		line = strings.TrimSpace(line)
		if _, rest, found := strings.Cut(line, "→"); found {
			line = strings.TrimSpace(rest)
		}
		if len(r.lines[line]) > 0 {
			r.lines[line] = append(r.lines[line], number)
		}
	}
}

// edits returns the files that a call changed and that had been read before.
func (r *recorder) edits(c history.ToolCall) []string {
	if c.Kind == history.Edit {
		return []string{c.File}
	}
	var files []string
	if c.Kind == history.Bash && (strings.Contains(c.Command, "sed -i") || strings.Contains(c.Command, "write(")) {
		for file := range r.read {
			if strings.Contains(c.Command, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// WithoutNeeds returns a copy of the session in which no later call needs a cleared result.
func (t Tape) WithoutNeeds() Tape {
	events := slices.Clone(t.Events)
	for i := range events {
		events[i].Needs = nil
		events[i].Reads = false
	}
	t.Events = events
	return t
}

// Decider decides which items to clear.
type Decider interface {
	Decide(contextgc.Window) contextgc.ClearingDecision
}

// Play returns the bill of a session in which by clears items before every model call. With wide the identifiers that stand
// only in cleared items are needed, too.
func (t Tape) Play(policy contextgc.Policy, by Decider, wide bool) contextgc.ClearingBill {
	s := contextgc.NewPlanner(policy)
	s.Bound, s.Marks = t.Binds, true
	items := make([]int, t.Items) // the numbers that the session gave to items
	showed := map[string]int{}    // by file, the item that showed it last
	for _, e := range t.Events {
		switch e.Kind {
		case tapedText:
			s.Text(e.Tokens, 1)
		case tapedBase:
			s.Base(e.Tokens)
		case tapedItem:
			items[e.Number] = s.Add(e.Item)
			if e.Item.Kind == contextgc.KindFile {
				showed[e.Item.Path] = items[e.Number]
			}
		case tapedTurn:
			s.Begin()
		case tapedCompact:
			s.Compact()
			clear(showed)
		case tapedGone:
			s.Gone(items[e.Number])
			maps.DeleteFunc(showed, func(_ string, item int) bool { return item == items[e.Number] })
		case tapedCall:
			s.Prices = e.Prices
			cached := int(e.Cached * float64(s.Sent()))
			expected := cached
			if !e.Seen {
				expected = s.Sent()
			}
			s.Call(by.Decide(s.Window(expected)).Clear, cached)
		case tapedEdit:
			for _, file := range e.Files {
				s.Work(file)
				if item, ok := showed[file]; ok && e.Reads {
					s.Needed(item)
				}
			}
		case tapedUse:
			for _, n := range e.Needs {
				if (wide || !n.Wide) && gone(s, items, n) {
					s.Needed(items[n.Item])
				}
			}
		}
	}
	return s.Bill()
}

// gone reports whether nothing shows a line any more.
func gone(s *contextgc.Planner, items []int, n tapedNeed) bool {
	return s.Cleared(items[n.Item]) && !slices.ContainsFunc(n.Earlier, func(item int) bool { return !s.Cleared(items[item]) })
}
