package view

import (
	"context"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/tools/page"
)

// mostCopied is the number of sessions, the latest ones, whose windows a standing copy has.
const mostCopied = 200

// mostTexts is about the number of bytes of texts that a standing copy has.
const mostTexts = 20 << 20

// Copy returns the model of a standing copy: the sessions, their windows, prefix and trace, and with texts what was cut, line by
// line. It has no replay, which `mcp-pruner replay --html` writes.
func (s Sources) Copy(ctx context.Context, texts bool) (page.Model, error) {
	x := Index{Sources: s}
	if _, err := x.Look(); err != nil {
		return page.Model{}, err
	}
	x.Read(ctx, func() {})
	list := x.List()
	m := page.Model{Title: "mcp-pruner view", Sessions: list, Windows: map[string]any{}, Prefix: s.prefixes(), Texts: texts}
	m.About = "A standing copy, without texts of outputs. It has the names of files and the commands of your sessions."
	if texts {
		m.About, m.Cuts = "A standing copy, with the texts of what was cut: keep it to yourself.", map[string]any{}
	}
	size := 0
	for _, l := range list[:min(len(list), mostCopied)] {
		t, ok := x.Find(l.Key)
		if !ok || ctx.Err() != nil {
			continue
		}
		w, ok := s.Window(ctx, t, l.Key)
		if !ok {
			continue
		}
		m.Windows[l.Key] = w
		if texts && size < mostTexts {
			size += s.copyCuts(ctx, t, l.Key, m.Cuts)
		}
	}
	if len(list) > mostCopied {
		m.About += fmt.Sprintf(" Windows of the latest %d of %d sessions.", mostCopied, len(list))
	}
	if t, err := s.trace(); err == nil && t != nil {
		m.Trace = t
	}
	return m, ctx.Err()
}

// copyCuts adds the cuts of a session and returns their size.
func (s Sources) copyCuts(ctx context.Context, t transcript, key string, to map[string]any) (size int) {
	o, ok := s.open(ctx, t.path, key)
	if !ok {
		return 0
	}
	for _, e := range o.events() {
		if e.Kind != WasCut {
			continue
		}
		c := s.cut(ctx, o, e)
		to[key+"/"+e.ID] = c
		for _, l := range c.Lines {
			size += len(l.Text)
		}
	}
	return size
}
