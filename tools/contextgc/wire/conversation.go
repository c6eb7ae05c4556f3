// Package wire reads the requests of the models' APIs: which provider one is for, and the conversation in it as turns,
// calls and results, each with its position in the body. A provider is one value, and so is each of its APIs.
package wire

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// A request is never decoded and encoded again, because everything that is not replaced must stay the same, byte for byte.

type span = jsonspan.Span

// Conversation is the history that a request contains.
type Conversation struct {
	jsonspan.Document
	Owner   string        // whose it is, mixed into every key; "": the owner of the machine
	Session string        // the client's session id, or a hash of the conversation's beginning
	Model   string        // that the request asks; "": it does not say
	Signs   bool          // its thinking is in the form of Anthropic's API
	Base    int           // bytes of the system prompt and the tool definitions
	Bare    bool          // the messages came alone, from a gateway: nothing is known of tools that were not called, nor of the cache
	Way     string        // of bare messages: our tool, and its argument, that the gateway or its operator says the model has; "": none
	Life    time.Duration // how long the provider's cache keeps this request after its last use, at least
	Turns   []Turn
	Results []*Result // what can be replaced: results, and the long arguments of calls

	system  span   // the system prompt, if the API has a member for it
	base    []span // model, system prompt, and at the end the tools
	added   []span // lists of further tools among the messages
	told    []span // texts of messages before the first answer that have the role of the system prompt
	folders []string

	open  map[string][]*Use // calls without a result so far, by call id; the last one of an id stays
	said  string            // the model's latest words
	stuck int               // where the model's latest thinking begins that cannot be left out; 0: there is none

	blocks     []block // of the messages, in Anthropic's form
	auto       span    // the mark of the request itself, which the API sets at the last block
	cacheMarks int     // all marks

	whose Key // whose session the keys of its results are of; zero: they have none yet
	known
}

// known says what of a conversation was parsed with an earlier request. The zero value is that of one without any.
type known struct {
	keyed
	messages int                           // that were parsed
	passed   func(last span, messages int) // is told where later requests may go on: after a message, and how many there are up to it
	until    int                           // results up to there
	parse    func(c *Conversation)         // parses it again, without what was known
	ready    func(until keyed)             // is told the keys of the results up to there
}

// changing is how many messages at the end of a history are not relied on: clients move their cache marks there, and add reminders.
const changing = 4

// messages calls each for the messages of a request, from the first one on that is not known.
func (c *Conversation) messages(list span, each func(span) error) error {
	n, i := 0, 0
	if err := c.Items(list, func(span) error { n++; return nil }); err != nil {
		return err
	}
	return c.Items(list, func(v span) error {
		i++
		if i <= c.known.messages {
			return nil
		}
		if err := each(v); err != nil {
			return err
		}
		if i == n-changing && c.passed != nil {
			c.until = len(c.Results)
			c.passed(v, i)
		}
		return nil
	})
}

// Turn is the part of a history between two model calls: the answer to the first call, and the input that
// followed it.
type Turn struct {
	Answer  int // bytes of the model's words and tool calls
	Uses    []*Use
	Given   int // bytes of the input other than tool results
	Results []*Result

	Thoughts []*Result // of the answer, that can be left out

	words []span
	parts []span // everything but results and long arguments
}

// Blocks returns how many blocks of the request a turn has beside its results.
func (t Turn) Blocks() int { return len(t.parts) }

// Use is a call of a tool.
type Use struct {
	Tool string
	Args map[string]any // those that identify its subject
	Why  string         // the model's words before it

	Wrote *Result // its long arguments; nil: none

	raw  span // of the arguments
	turn int  // index of its turn
}

// Result is a tool result in a request, or the long arguments of a call, or a block of thinking, which can be left out.
type Result struct {
	Arguments bool
	Thought   bool

	ID    string // of the call
	Key   Key    // set by Keyring.Identify
	Use   *Use   // the call; never nil
	Fixed bool   // it contains something that must stay: an image or a cache marker
	Bytes int
	Index int // its index among all results
	Turn  int // index of its turn in the conversation

	texts []span // the JSON strings that make up its text
	at    span   // the value that a stub replaces
	list  bool   // a stub must be a list with one text block
	block string // type of that block
	mark  span   // for the cache, within it

	encoded bool // arguments that are JSON within a string
	whole   bool // arguments that are one text
}

// Text returns a result's text.
func (c *Conversation) Text(r *Result) string {
	if r.Arguments {
		return c.writtenText(r)
	}
	parts := make([]string, len(r.texts))
	for i, s := range r.texts {
		parts[i] = s.Text(c.Body)
	}
	return strings.Join(parts, "\n")
}

// StuckAfter reports whether thinking that is not among the results, so that it cannot be left out, stands anywhere after a result, or
// after the call with these arguments.
func (c *Conversation) StuckAfter(r *Result) bool { return r.at.From < c.stuck }

// Begins reports whether the input of a turn begins a turn of the person: it answers no call.
func (c *Conversation) Begins(turn int) bool {
	t := c.Turns[turn]
	return len(t.words) > 0 && len(t.Results) == 0
}

// HasText reports whether a result has a text, even an empty one.
func (r *Result) HasText() bool { return len(r.texts) > 0 }

// Words returns the words of the person or the client in a turn.
func (c *Conversation) Words(turn int) []string {
	words := make([]string, len(c.Turns[turn].words))
	for i, s := range c.Turns[turn].words {
		words[i] = s.Text(c.Body)
	}
	return words
}

// Replaced is a request with other texts in place of some results.
type Replaced struct {
	Body          []byte
	Results       int
	Before, After int // bytes of the replaced results, and of what stands in their places
	Marked        bool
}

// Replace returns the request with texts in place of results, by index. An empty text, and a result that must stay,
// change nothing. Thinking with a text is left out.
func (c *Conversation) Replace(texts []string) Replaced { return c.ReplaceAndMark(texts, -1) }

// ReplaceAndMark also marks a block for the cache, by index; negative: none.
func (c *Conversation) ReplaceAndMark(texts []string, at int) Replaced {
	out := Replaced{Body: c.Body}
	var edits []jsonspan.Edit
	for i, text := range texts {
		r := c.Results[i]
		if text == "" || r.Fixed {
			continue
		}
		if r.Thought {
			edits = c.leaveOut(edits, r.at)
			continue
		}
		stub := c.stub(r, text)
		edits = append(edits, jsonspan.Edit{From: r.at.From, To: r.at.To, Text: stub})
		out.Results++
		out.Before += r.at.To - r.at.From
		out.After += len(stub)
	}
	if edit, ok := c.mark(at); ok {
		out.Marked = true
		edits = append(edits, edit)
		slices.SortStableFunc(edits, func(a, b jsonspan.Edit) int { return cmp.Compare(a.From, b.From) })
	}
	if len(edits) > 0 {
		out.Body = jsonspan.Splice(c.Body, edits)
	}
	return out
}

// leaveOut adds the edit that takes an element out of its array, with one comma beside it. Others may stand in the array.
func (c *Conversation) leaveOut(edits []jsonspan.Edit, at span) []jsonspan.Edit {
	to := at.To
	for ; to < len(c.Body) && strings.IndexByte(" \t\r\n", c.Body[to]) >= 0; to++ {
	}
	if to < len(c.Body) && c.Body[to] == ',' {
		return append(edits, jsonspan.Edit{From: at.From, To: to + 1})
	}
	from := at.From
	for from > 0 && strings.IndexByte(" \t\r\n", c.Body[from-1]) >= 0 {
		from--
	}
	for n := len(edits) - 1; n >= 0 && edits[n].To == from && edits[n].Text == nil; n = len(edits) - 1 { // left out, too, with the comma behind it
		from, edits = edits[n].From, edits[:n]
		for from > 0 && strings.IndexByte(" \t\r\n", c.Body[from-1]) >= 0 {
			from--
		}
	}
	if from > 0 && c.Body[from-1] == ',' {
		from--
	}
	return append(edits, jsonspan.Edit{From: from, To: at.To})
}

// SizeWith returns the size of the request with a text in place of a result.
func (c *Conversation) SizeWith(r *Result, text string) int {
	return len(c.Body) - (r.at.To - r.at.From) + len(c.stub(r, text))
}

// stub returns the JSON that puts text in the result's place.
func (c *Conversation) stub(r *Result, text string) []byte {
	switch {
	case r.Arguments && !r.whole:
		return c.clearedArguments(r, text)
	case !r.list:
		return jsonspan.Quote(text)
	}
	return []byte(`[{"type":"` + r.block + `","text":` + string(jsonspan.Quote(text)) + `}]`)
}

// newConversation returns an empty conversation, and the span of the body's value.
func newConversation(body []byte) (*Conversation, span, error) {
	d, top, err := jsonspan.Parse(body)
	return &Conversation{Document: d, open: make(map[string][]*Use), Turns: make([]Turn, 1)}, top, err
}

// Last returns the latest turn.
func (c *Conversation) Last() *Turn { return &c.Turns[len(c.Turns)-1] }

// given records bytes of input to the model. Output after it belongs to the model's next answer.
func (c *Conversation) given(v span) {
	c.Last().Given += v.To - v.From
	c.Last().parts = append(c.Last().parts, v)
}

// answered records bytes of the model's answer. The first ones after input start a new turn.
func (c *Conversation) answered(v span) {
	if t := c.Last(); t.Given > 0 || len(t.Results) > 0 {
		c.Turns = append(c.Turns, Turn{})
		c.said = ""
	}
	c.Last().Answer += v.To - v.From
	c.Last().parts = append(c.Last().parts, v)
}

// think records thinking of the model, a part of its answer, that cannot be left out.
func (c *Conversation) think(v span) { c.stuck = v.From }

// thinks records a block of thinking that can be left out. Its signature, of which another one has another, is its text.
func (c *Conversation) thinks(block, signature span) {
	r := &Result{Thought: true, Use: &Use{}, Index: len(c.Results), texts: []span{signature}, at: block, Bytes: block.To - block.From}
	c.answered(block)
	r.Turn = len(c.Turns) - 1
	c.Results, c.Last().Thoughts = append(c.Results, r), append(c.Last().Thoughts, r)
}

// word records words of the person or the client.
func (c *Conversation) word(v span) {
	c.Last().words = append(c.Last().words, v)
	c.given(v)
}

// speak records words of the model.
func (c *Conversation) speak(v span) {
	c.answered(v)
	if text := strings.TrimSpace(v.Text(c.Body)); text != "" {
		c.said = text
	}
}

// called records a tool call.
func (c *Conversation) called(id, tool string, args span, encoded bool) {
	c.wrote(id, c.use(id, tool, args, encoded), args, encoded)
}

// use records a tool call without looking for long texts in its arguments.
func (c *Conversation) use(id, tool string, args span, encoded bool) *Use {
	c.answered(args)
	u := &Use{Tool: tool, Args: arguments(&c.Document, args, encoded), Why: c.said, raw: args, turn: len(c.Turns) - 1}
	c.Last().Uses = append(c.Last().Uses, u)
	open := c.open[id]
	if len(open) > 0 && open[0].turn != u.turn {
		open = nil // the id is used again
	}
	c.open[id] = append(open, u)
	return u
}

// kept lists the arguments that identify the subject of a call. It excludes the texts that a call writes
// into files, which can be large.
var kept = []string{"file_path", "filePath", "path", "notebook_path", "absolute_path", "offset", "limit", "start_line", "end_line",
	"command", "cmd", "description", "pattern", "query", "glob", "dirPath", "dir_path", "url", "prompt", "id", "prune_id", "segment_id"}

func arguments(d *jsonspan.Document, args span, encoded bool) map[string]any {
	if encoded { // JSON within a string
		inner, all, err := jsonspan.Parse([]byte(args.Text(d.Body)))
		if err != nil {
			return nil
		}
		return arguments(&inner, all, false)
	}
	found, err := d.Members(args, kept...)
	if err != nil {
		return nil
	}
	m := make(map[string]any)
	for i, v := range found {
		if v.To > 0 {
			var value any
			if json.Unmarshal(v.Of(d.Body), &value) == nil {
				m[kept[i]] = value
			}
		}
	}
	return m
}

// resulted records a tool result.
func (c *Conversation) resulted(id string, r *Result) {
	for _, s := range r.texts {
		r.Bytes += s.To - s.From
	}
	r.ID, r.Use, r.Index, r.Turn = id, c.callOf(id), len(c.Results), len(c.Turns)-1
	c.Results = append(c.Results, r)
	c.Last().Results = append(c.Last().Results, r)
}

// callOf returns the call that a result answers. Some servers give several calls one id, or none; results then come in
// the order of the calls.
func (c *Conversation) callOf(id string) *Use {
	open := c.open[id]
	if len(open) == 0 {
		return &Use{}
	}
	if len(open) > 1 {
		c.open[id] = open[1:]
	}
	return open[0]
}

// Alias sets the conversation's name to the client's, if the request itself did not contain one.
func (c *Conversation) Alias(given string) {
	if given != "" && strings.HasPrefix(c.Session, "conv_") {
		c.name(given)
	}
}

// name sets the conversation's name to the one given by the client, or to a hash of its first words.
func (c *Conversation) name(given string) {
	if given == "" {
		hash := sha256.New()
		for _, w := range c.Turns[0].words {
			hash.Write(w.Of(c.Body))
		}
		c.Session = "conv_" + hex.EncodeToString(hash.Sum(nil)[:8])
		return
	}
	c.Session = contextgc.SessionID(given)
}

// WorksIn sets the folders in which the client says it works, in the order in which it says them.
func (c *Conversation) WorksIn(folders ...string) { c.folders = folders }

// Folders returns them.
func (c *Conversation) Folders() []string { return c.folders }

// Anthropic's cache keeps entries at marks only, of which a request may have four, and finds one at most 20 blocks before a mark. The
// clients leave one mark free.

// maxMarks is how many marks a request may have.
const maxMarks = 4

// block is a content block of a message.
type block struct {
	at      span
	turn    int
	carries bool // it can carry a mark
	mark    span // its own; zero: none
}

// marked counts the marks of a list of blocks or tools.
func (c *Conversation) marked(list span) {
	if list.To == 0 || !list.IsArray(c.Body) {
		return
	}
	_ = c.Items(list, func(v span) error { // the request was parsed before
		if m, err := c.Members(v, "cache_control"); err == nil {
			c.countMark(m[0])
		}
		return nil
	})
}

func (c *Conversation) countMark(mark span) {
	if mark.To > 0 {
		c.cacheMarks++
		c.lives(mark)
	}
}

// lives records how long the entry of a mark lives.
func (c *Conversation) lives(mark span) {
	if !mark.IsObject(c.Body) {
		return
	}
	if m, err := c.Members(mark, "ttl"); err == nil && m[0].Text(c.Body) == "1h" {
		c.Life = max(c.Life, tokens.CacheHour)
	}
}

// addBlock records a block of the latest turn, and its mark.
func (c *Conversation) addBlock(at span, kind, text string, mark span) {
	c.countMark(mark)
	carries := kind != "thinking" && kind != "redacted_thinking" && (kind != "text" || text != `""`)
	c.blocks = append(c.blocks, block{at: at, turn: len(c.Turns) - 1, carries: carries, mark: mark})
}

// EndOf returns the index of the last block of a turn, and how many follow it.
func (c *Conversation) EndOf(turn int) (at, after int) {
	at, _ = slices.BinarySearchFunc(c.blocks, turn+1, func(b block, turn int) int { return cmp.Compare(b.turn, turn) })
	return at - 1, len(c.blocks) - at
}

// Before returns the index of the block before that of a result.
func (c *Conversation) Before(r *Result) int {
	at, _ := slices.BinarySearchFunc(c.blocks, r.at.From, func(b block, from int) int { return cmp.Compare(b.at.To, from) })
	return at - 1
}

// mark returns the edit that marks a block, or one before it that can carry a mark, for as long as the mark that follows; ok is false if
// there is no need or no room for it.
func (c *Conversation) mark(at int) (edit jsonspan.Edit, ok bool) {
	for ; at >= 0 && !c.blocks[at].carries; at-- {
	}
	if at < 0 || c.cacheMarks >= maxMarks || c.blocks[at].mark.To > 0 {
		return edit, false
	}
	next := c.auto
	if n := slices.IndexFunc(c.blocks[at:], func(b block) bool { return b.mark.To > 0 }); n > 0 {
		next = c.blocks[at+n].mark
	}
	if next.To == 0 {
		return edit, false
	}
	from := c.blocks[at].at.From + 1
	return jsonspan.Edit{From: from, To: from, Text: slices.Concat([]byte(`"cache_control":`), next.Of(c.Body), []byte(`,`))}, true
}
