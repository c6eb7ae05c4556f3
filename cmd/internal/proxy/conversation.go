package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
)

// conversation is the history that a request contains.
type conversation struct {
	document
	system  span   // the system prompt, if the API has a member for it
	folder  string // the folder in which the client says it works, once it was looked for
	looked  bool
	session string // the client's session id, or a hash of the conversation's beginning
	base    int    // bytes of the system prompt and the tool definitions
	turns   []turn
	results []*result

	uses map[string][]use // calls without a result so far, by call id; the last one of an id stays
	said string           // the model's latest words
}

// turn is the part of a history between two model calls: the answer to the first call, and the input that
// followed it.
type turn struct {
	answer  int // bytes of the model's words and tool calls
	edited  []string
	given   int // bytes of the input other than tool results
	words   []span
	results []*result
}

// use is a call of a tool.
type use struct {
	call history.Call
	args map[string]any
	raw  span   // of the arguments
	why  string // the model's words before the call
	turn int    // index of its turn
}

// result is a tool result in a request.
type result struct {
	id    string // of the call
	key   key    // set by keyring.identify
	use   use
	texts []span // the JSON strings that make up its text
	at    span   // the value that a stub replaces
	list  bool   // a stub must be a list with one text block
	block string // type of that block
	fixed bool   // it contains something that must stay: an image or a cache marker
	bytes int
	index int // its index among all results
	turn  int // index of its turn in the conversation
}

// text returns the result's text.
func (r *result) text(body []byte) string {
	var parts []string
	for _, s := range r.texts {
		parts = append(parts, s.text(body))
	}
	return strings.Join(parts, "\n")
}

// stub returns the JSON that puts text in the result's place.
func (r *result) stub(text string) []byte {
	if !r.list {
		return quote(text)
	}
	return []byte(`[{"type":"` + r.block + `","text":` + string(quote(text)) + `}]`)
}

// newConversation returns an empty conversation, and the span of the body's value.
func newConversation(body []byte) (*conversation, span, error) {
	d, top, err := parse(body)
	return &conversation{document: d, uses: make(map[string][]use), turns: make([]turn, 1)}, top, err
}

func (c *conversation) now() *turn { return &c.turns[len(c.turns)-1] }

// given records bytes of input to the model. Output after it belongs to the model's next answer.
func (c *conversation) given(bytes int) {
	c.now().given += bytes
}

// answered records bytes of the model's answer. The first ones after input start a new turn.
func (c *conversation) answered(bytes int) {
	if t := c.now(); t.given > 0 || len(t.results) > 0 {
		c.turns = append(c.turns, turn{})
		c.said = ""
	}
	c.now().answer += bytes
}

// word records words of the person or the client.
func (c *conversation) word(v span) {
	c.now().words = append(c.now().words, v)
	c.given(v.to - v.from)
}

// speak records words of the model.
func (c *conversation) speak(v span) {
	c.answered(v.to - v.from)
	if text := strings.TrimSpace(v.text(c.body)); text != "" {
		c.said = text
	}
}

// called records a tool call.
func (c *conversation) called(id, tool string, args span, encoded bool) {
	c.answered(args.to - args.from + len(tool))
	u := use{args: c.arguments(args, encoded), raw: args, why: c.said, turn: len(c.turns) - 1}
	u.call = history.ParseCall(tool, u.args)
	open := c.uses[id]
	if len(open) > 0 && open[0].turn != u.turn {
		open = nil // the id is used again
	}
	c.uses[id] = append(open, u)
	if u.call.Kind == history.Edit || u.call.Kind == history.Write {
		c.now().edited = append(c.now().edited, u.call.File)
	}
}

// kept lists the arguments that identify the subject of a call. It excludes the texts that a call writes
// into files, which can be large.
var kept = []string{"file_path", "filePath", "path", "notebook_path", "absolute_path", "offset", "limit", "start_line", "end_line",
	"command", "cmd", "description", "pattern", "query", "glob", "dirPath", "dir_path", "url", "prompt"}

func (d *document) arguments(args span, encoded bool) map[string]any {
	if encoded { // JSON within a string
		inner, all, err := parse([]byte(args.text(d.body)))
		if err != nil {
			return nil
		}
		return inner.arguments(all, false)
	}
	found, err := d.members(args, kept...)
	if err != nil {
		return nil
	}
	m := make(map[string]any)
	for i, v := range found {
		if v.to > 0 {
			var value any
			if json.Unmarshal(v.of(d.body), &value) == nil {
				m[kept[i]] = value
			}
		}
	}
	return m
}

// resulted records a tool result.
func (c *conversation) resulted(id string, r *result) {
	for _, s := range r.texts {
		r.bytes += s.to - s.from
	}
	r.id, r.use, r.index, r.turn = id, c.callOf(id), len(c.results), len(c.turns)-1
	c.results = append(c.results, r)
	c.now().results = append(c.now().results, r)
}

// callOf returns the call that a result answers. Some servers give several calls one id, or none; results then come in
// the order of the calls.
func (c *conversation) callOf(id string) use {
	open := c.uses[id]
	if len(open) == 0 {
		return use{}
	}
	if len(open) > 1 {
		c.uses[id] = open[1:]
	}
	return open[0]
}

// alias sets the conversation's name to the client's, if the request itself did not contain one.
func (c *conversation) alias(given string) {
	if given != "" && strings.HasPrefix(c.session, "conv_") {
		c.name(given)
	}
}

// name sets the conversation's name to the one given by the client, or to a hash of its first words.
func (c *conversation) name(given string) {
	if given == "" {
		hash := sha256.New()
		for _, w := range c.turns[0].words {
			hash.Write(w.of(c.body))
		}
		c.session = "conv_" + hex.EncodeToString(hash.Sum(nil)[:8])
		return
	}
	c.session = ledger.SessionID(given)
}
