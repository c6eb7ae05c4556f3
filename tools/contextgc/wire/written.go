package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// The arguments of a call that wrote a file contain long texts, which can be cleared like a result. The call stays: its name, its
// id, and the arguments that identify its subject. So does everything beside it, such as thoughts and their signatures.

// longText is a long text in the arguments of a call.
type longText struct {
	name string // of the argument
	at   span
}

// cleared stands in the place of the second long text of a call and those after it.
const cleared = "[cleared]"

// wrote records the long texts in a call's arguments, if there are any.
func (c *Conversation) wrote(id string, u *Use, args span, encoded bool) {
	if args.to-args.from < contextgc.MinWritten {
		return // a token has at least one byte
	}
	r := &Result{Arguments: true, encoded: encoded, texts: []span{args}, at: args}
	for _, t := range c.longTexts(r) {
		r.Bytes += t.at.to - t.at.from
	}
	if r.Bytes > 0 {
		c.piece(id, u, r)
	}
}

// wroteText records arguments that are one text, such as a patch.
func (c *Conversation) wroteText(id string, u *Use, text span) {
	if size := text.to - text.from; size >= contextgc.WrittenBytes {
		c.piece(id, u, &Result{Arguments: true, whole: true, texts: []span{text}, at: text, Bytes: size})
	}
}

func (c *Conversation) piece(id string, u *Use, r *Result) {
	r.ID, r.Use, r.Index, r.Turn = id, u, len(c.Results), len(c.Turns)-1
	u.Wrote = r
	c.Results = append(c.Results, r)
}

// Written returns all arguments of a call, also the texts that it writes. Arguments that are one text, such as a patch, are its input.
func (c *Conversation) Written(u *Use) (args map[string]any) {
	raw, text := u.raw.of(c.body), ""
	if json.Unmarshal(raw, &text) == nil { // JSON within a string, or one text
		raw = []byte(text)
	}
	if json.Unmarshal(raw, &args) != nil {
		return map[string]any{"input": text}
	}
	return args
}

// inside returns the JSON text of arguments and the span of its value.
func (c *Conversation) inside(r *Result) (document, span) {
	if !r.encoded {
		return c.document, r.at
	}
	d, all, err := parse([]byte(r.at.text(c.body)))
	if err != nil {
		return document{}, span{}
	}
	return d, all
}

// longTexts returns the long texts of arguments, in their order.
func (c *Conversation) longTexts(r *Result) []longText {
	if r.whole {
		return []longText{{at: r.at}}
	}
	d, all := c.inside(r)
	var list []longText
	d.longIn(all, "", &list)
	return list
}

// longIn appends the long texts in a value.
func (d *document) longIn(v span, name string, list *[]longText) {
	switch {
	case v.to-v.from < contextgc.WrittenBytes, slices.Contains(kept, name):
	case v.isString(d.body):
		*list = append(*list, longText{name, v})
	case v.isArray(d.body):
		_ = d.items(v, func(item span) error { d.longIn(item, "", list); return nil }) // a value that cannot be read has no texts
	case v.isObject(d.body):
		_ = d.fields(v, func(key []byte, member span) error { d.longIn(member, string(key), list); return nil })
	}
}

// writtenText returns the long texts of arguments: one as it is, several below their names.
func (c *Conversation) writtenText(r *Result) string {
	d, _ := c.inside(r)
	list := c.longTexts(r)
	if len(list) == 1 {
		return list[0].at.text(d.body)
	}
	var b strings.Builder
	for _, t := range list {
		b.WriteString(t.name + ":\n" + t.at.text(d.body) + "\n")
	}
	return b.String()
}

// clearedArguments returns the JSON of arguments with text in the place of their long texts.
func (c *Conversation) clearedArguments(r *Result, text string) []byte {
	d, all := c.inside(r)
	var edits []edit
	for _, t := range c.longTexts(r) {
		edits = append(edits, edit{span{t.at.from - all.from, t.at.to - all.from}, quote(text)})
		text = cleared
	}
	out := splice(all.of(d.body), edits)
	if r.encoded {
		return quote(string(out))
	}
	return out
}
