package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
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
	if args.To-args.From < contextgc.MinWritten {
		return // a token has at least one byte
	}
	r := &Result{Arguments: true, encoded: encoded, texts: []span{args}, at: args}
	for _, t := range c.longTexts(r) {
		r.Bytes += t.at.To - t.at.From
	}
	if r.Bytes > 0 {
		c.piece(id, u, r)
	}
}

// wroteText records arguments that are one text, such as a patch.
func (c *Conversation) wroteText(id string, u *Use, text span) {
	if size := text.To - text.From; size >= contextgc.WrittenBytes {
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
	raw, text := u.raw.Of(c.Body), ""
	if json.Unmarshal(raw, &text) == nil { // JSON within a string, or one text
		raw = []byte(text)
	}
	if json.Unmarshal(raw, &args) != nil {
		return map[string]any{"input": text}
	}
	return args
}

// inside returns the JSON text of arguments and the span of its value.
func (c *Conversation) inside(r *Result) (jsonspan.Document, span) {
	if !r.encoded {
		return c.Document, r.at
	}
	d, all, err := jsonspan.Parse([]byte(r.at.Text(c.Body)))
	if err != nil {
		return jsonspan.Document{}, span{}
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
	longIn(&d, all, "", &list)
	return list
}

// longIn appends the long texts in a value.
func longIn(d *jsonspan.Document, v span, name string, list *[]longText) {
	switch {
	case v.To-v.From < contextgc.WrittenBytes, slices.Contains(kept, name):
	case v.IsString(d.Body):
		*list = append(*list, longText{name, v})
	case v.IsArray(d.Body):
		_ = d.Items(v, func(item span) error { longIn(d, item, "", list); return nil }) // a value that cannot be read has no texts
	case v.IsObject(d.Body):
		_ = d.Fields(v, func(key []byte, member span) error { longIn(d, member, string(key), list); return nil })
	}
}

// writtenText returns the long texts of arguments: one as it is, several below their names.
func (c *Conversation) writtenText(r *Result) string {
	d, _ := c.inside(r)
	list := c.longTexts(r)
	if len(list) == 1 {
		return list[0].at.Text(d.Body)
	}
	var b strings.Builder
	for _, t := range list {
		b.WriteString(t.name + ":\n" + t.at.Text(d.Body) + "\n")
	}
	return b.String()
}

// clearedArguments returns the JSON of arguments with text in the place of their long texts.
func (c *Conversation) clearedArguments(r *Result, text string) []byte {
	d, all := c.inside(r)
	var edits []jsonspan.Edit
	for _, t := range c.longTexts(r) {
		edits = append(edits, jsonspan.Edit{From: t.at.From - all.From, To: t.at.To - all.From, Text: jsonspan.Quote(text)})
		text = cleared
	}
	out := jsonspan.Splice(all.Of(d.Body), edits)
	if r.encoded {
		return jsonspan.Quote(string(out))
	}
	return out
}
