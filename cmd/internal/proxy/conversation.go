package proxy

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"

	"mcp-pruner/cmd/internal/ledger"
	"mcp-pruner/pruneclient/history"
)

// key names a tool result, or a place in a history: equal keys, equal histories.
type key [sha256.Size]byte

// conversation is what a request says was said and done so far.
type conversation struct {
	body    []byte
	root    string // the project, once it was looked for
	session string // the client's own name of it, or the hash of how it begins
	base    int    // bytes of the system prompt and the tool definitions
	turns   []turn
	results []*result

	uses map[string]use // by call id
	said string         // the last words of the model
	n    int            // results without an id of their own
}

// turn is what happened between two calls of the model: its answer to the first one,
// and what it was then given.
type turn struct {
	answer  int // bytes of the model's words and calls
	edited  []string
	given   int // bytes of everything but results
	words   []span
	results []*result
}

// use is a call of a tool.
type use struct {
	call history.Call
	args map[string]any
	why  string // the model's words before it
}

// result is a tool's result as it stands in a request.
type result struct {
	key   key
	use   use
	texts []span // JSON strings that are its text
	at    span   // what a stub replaces
	list  bool   // a stub has to be a list with one block of text
	block string // type of that block
	fixed bool   // it holds what must stay: an image, or marks of the cache
	bytes int
	index int // among all results
	turn  int // of the conversation
}

// text is the result's text.
func (r *result) text(body []byte) string {
	var parts []string
	for _, s := range r.texts {
		parts = append(parts, s.text(body))
	}
	return strings.Join(parts, "\n")
}

// stub is what a text looks like in the result's place.
func (r *result) stub(text string) []byte {
	if !r.list {
		return quote(text)
	}
	return []byte(`[{"type":"` + r.block + `","text":` + string(quote(text)) + `}]`)
}

func newConversation(body []byte) *conversation {
	return &conversation{body: body, uses: make(map[string]use), turns: make([]turn, 1)}
}

func (c *conversation) now() *turn { return &c.turns[len(c.turns)-1] }

// given notes that the model is given something. Everything else that it says
// belongs to its next answer.
func (c *conversation) given(bytes int) {
	c.now().given += bytes
}

// answered notes a piece of the model's answer. The first after something was given
// begins a turn.
func (c *conversation) answered(bytes int) {
	if t := c.now(); t.given > 0 || len(t.results) > 0 {
		c.turns = append(c.turns, turn{})
		c.said = ""
	}
	c.now().answer += bytes
}

// word notes words of the person or of the client.
func (c *conversation) word(v span) {
	c.now().words = append(c.now().words, v)
	c.given(v.to - v.from)
}

// speak notes words of the model.
func (c *conversation) speak(v span) {
	c.answered(v.to - v.from)
	if text := strings.TrimSpace(v.text(c.body)); text != "" {
		c.said = text
	}
}

// called notes a call of a tool.
func (c *conversation) called(id, tool string, args span, encoded bool) {
	c.answered(args.to - args.from + len(tool))
	u := use{args: arguments(c.body, args, encoded), why: c.said}
	u.call = history.ParseCall(tool, u.args)
	c.uses[id] = u
	if u.call.Kind == history.Edit || u.call.Kind == history.Write {
		c.now().edited = append(c.now().edited, u.call.File)
	}
}

// kept are the arguments of a call that say what it is about. Texts that are written
// into files are not among them: they can be large.
var kept = []string{"file_path", "filePath", "path", "notebook_path", "absolute_path", "offset", "limit", "start_line", "end_line",
	"command", "cmd", "description", "pattern", "query", "glob", "dirPath", "dir_path", "url", "prompt"}

func arguments(b []byte, args span, encoded bool) map[string]any {
	if encoded { // JSON in a string
		b = []byte(args.text(b))
		var err error
		if args, err = whole(b); err != nil {
			return nil
		}
	}
	found, err := members(b, args, kept...)
	if err != nil {
		return nil
	}
	m := make(map[string]any)
	for i, v := range found {
		if v.to > 0 {
			var value any
			if json.Unmarshal(v.of(b), &value) == nil {
				m[kept[i]] = value
			}
		}
	}
	return m
}

// resulted notes a tool's result. Its key is made of the call's id and the text, so
// that the same text read again later is another result.
func (c *conversation) resulted(id string, r *result) {
	hash := sha256.New()
	hash.Write([]byte(id))
	for _, s := range r.texts {
		hash.Write([]byte{0})
		hash.Write(s.of(c.body))
		r.bytes += s.to - s.from
	}
	hash.Sum(r.key[:0])
	r.use, r.index, r.turn = c.uses[id], len(c.results), len(c.turns)-1
	c.results = append(c.results, r)
	c.now().results = append(c.now().results, r)
}

// anonymous names a call that has no id: by its place and the tool.
func (c *conversation) anonymous(tool string) string {
	c.n++
	return tool + "#" + string(binary.AppendUvarint(nil, uint64(c.n)))
}

// reminder begins what a client adds to a person's words, and may leave out later.
const reminder = `"<system-reminder>`

// places returns, for each turn, the key of the history up to its end: what a model
// call was sent. It is made of the turn's results, or of its words and the last result
// before, and of how many results there were: clients rewrite other things as they go.
func (c *conversation) places() []key {
	places := make([]key, len(c.turns))
	count, last := uint64(0), key{}
	for i, t := range c.turns {
		hash := sha256.New()
		count += uint64(len(t.results))
		hash.Write(binary.AppendUvarint(nil, count))
		for _, r := range t.results {
			hash.Write(r.key[:])
			last = r.key
		}
		if len(t.results) == 0 {
			hash.Write(last[:])
			for _, w := range t.words {
				if text := w.of(c.body); !strings.HasPrefix(string(text[:min(len(text), len(reminder))]), reminder) {
					hash.Write(text)
				}
			}
		}
		hash.Sum(places[i][:0])
	}
	return places
}

// alias names the conversation as the client does, where its request did not.
func (c *conversation) alias(given string) {
	if given != "" && strings.HasPrefix(c.session, "conv_") {
		c.name(given)
	}
}

// name gives the conversation the client's name for it, or one made of the words it
// begins with.
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
