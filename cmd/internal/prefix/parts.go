package prefix

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Part is a part of the prefix.
type Part struct {
	sessions.Part
	Sections []Section `json:"sections,omitempty"` // of a memory file
}

// Section is a section of a memory file.
type Section struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Prefix is all that a request has before the user's first word.
type Prefix struct {
	Model  string
	Tokens int // of the whole
	Parts  []Part
}

// PartsOf splits a request of a client. servers are the MCP servers that are known by name. The prompt, which this program
// itself gave, counts as nothing.
func PartsOf(c *agent.Client, r Request, servers []string, prompt string) (Prefix, error) {
	content, err := r.decode()
	if err != nil {
		return Prefix{}, err
	}
	p := Prefix{Model: content.model}
	var whole strings.Builder
	for _, text := range content.system {
		whole.WriteString(text)
		p.split(c, servers, sessions.SystemPart, "system prompt", text)
	}
	for _, t := range content.tools {
		whole.WriteString(t.defined())
		t.Description = p.takeListed(c, servers, t.Description, quotedTokens)
		p.add(Part{Part: sessions.Part{Kind: sessions.ToolPart, Name: t.Name, Server: serverOf(c, t, servers), Tokens: tokens.EstimateAll(t.defined())}})
	}
	for _, text := range content.texts {
		text = strings.ReplaceAll(text, prompt, "")
		whole.WriteString(text)
		p.split(c, servers, sessions.OtherPart, messages, text)
	}
	for _, block := range content.rest {
		whole.WriteString(block)
		p.add(Part{Part: sessions.Part{Kind: sessions.OtherPart, Name: messages, Tokens: tokens.EstimateAll(block)}})
	}
	p.Tokens = tokens.EstimateAll(whole.String())
	slices.SortStableFunc(p.Parts, func(a, b Part) int {
		return cmp.Or(slices.Index(kindOrder, a.Kind)-slices.Index(kindOrder, b.Kind), cmp.Compare(b.Tokens, a.Tokens))
	})
	return p, nil
}

var kindOrder = []sessions.PartKind{sessions.SystemPart, sessions.ToolPart, sessions.MemoryPart, sessions.SkillPart, sessions.AgentPart, sessions.OtherPart}

// messages is the name of what the client writes into its first messages beside the listings.
const messages = "messages"

// add adds a part. Two of the same kind and name become one.
func (p *Prefix) add(part Part) {
	at := slices.IndexFunc(p.Parts, func(o Part) bool {
		return o.Kind == part.Kind && o.Name == part.Name && o.Server == part.Server
	})
	if at < 0 {
		p.Parts = append(p.Parts, part)
		return
	}
	p.Parts[at].Tokens += part.Tokens
	p.Parts[at].Sections = append(p.Parts[at].Sections, part.Sections...)
}

// listItem is a place of a text that belongs to a listed thing.
type listItem struct {
	from, to int
	part     Part
}

// split adds the things that a text lists, and its rest as a part of a kind.
func (p *Prefix) split(c *agent.Client, servers []string, kind sessions.PartKind, name, text string) {
	if rest := p.takeListed(c, servers, text, tokens.EstimateAll); strings.TrimSpace(rest) != "" {
		p.add(Part{Part: sessions.Part{Kind: kind, Name: name, Tokens: tokens.EstimateAll(rest)}})
	}
}

// quotedTokens counts a text as it is within a definition of a tool.
func quotedTokens(text string) int {
	return tokens.EstimateAll(strings.Trim(string(jsonspan.Encode(text)), `"`))
}

// takeListed adds the things that a text lists, with their tokens by count, and returns the rest of the text.
func (p *Prefix) takeListed(c *agent.Client, servers []string, text string, count func(string) int) string {
	var items []listItem
	for _, l := range c.Prefix.Listings() {
		items = append(items, listedItems(l, text)...)
	}
	slices.SortFunc(items, func(a, b listItem) int { return a.from - b.from })
	at := 0
	var rest strings.Builder
	for _, i := range items {
		if i.from < at {
			continue // within another one
		}
		rest.WriteString(text[at:i.from])
		at = i.to
		body := text[i.from:i.to]
		i.part.Tokens = count(body)
		switch i.part.Kind {
		case sessions.MemoryPart:
			i.part.Sections = sectionsOf(body)
		case sessions.ToolPart:
			i.part.Server = serverOf(c, requestTool{Name: i.part.Name}, servers)
		case sessions.OtherPart:
			i.part.Server = i.part.Name
		case sessions.SkillPart, sessions.AgentPart:
			if plugin, _, ok := strings.Cut(i.part.Name, ":"); ok {
				i.part.Server = plugin
			}
		}
		p.add(i.part)
	}
	rest.WriteString(text[at:])
	return rest.String()
}

func listedItems(l agent.Listing, text string) (items []listItem) {
	for _, region := range l.Region.FindAllStringIndex(text, -1) {
		within := text[region[0]:region[1]]
		starts := l.Item.FindAllStringSubmatchIndex(within, -1)
		for i, s := range starts {
			end := len(within)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			named := sessions.Part{Kind: sessions.PartKind(l.Kind), Name: within[s[2]:s[3]]}
			items = append(items, listItem{region[0] + s[0], region[0] + end, Part{Part: named}})
		}
	}
	return items
}

// sectionsOf returns the sections of a text in Markdown: from each heading to the next.
func sectionsOf(text string) (list []Section) {
	var name string
	var body strings.Builder
	flush := func() {
		if strings.TrimSpace(body.String()) != "" && name != "" {
			list = append(list, Section{name, tokens.EstimateAll(body.String())})
		}
		body.Reset()
	}
	fence := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fence = !fence
		}
		if heading := strings.TrimLeft(line, "#"); !fence && heading != line && strings.HasPrefix(heading, " ") {
			flush()
			name = strings.TrimSpace(heading)
		}
		body.WriteString(line)
	}
	flush()
	return list
}

// serverOf returns the MCP server of a tool by the client's name for it, "" for the client's own tools.
func serverOf(c *agent.Client, t requestTool, servers []string) string {
	marks := c.Prefix.ServerTool
	name := t.Name
	if t.Server != "" {
		name = t.Server + marks.Between
	}
	best := ""
	for _, s := range servers {
		if strings.HasPrefix(name, marks.Before+marks.Name(s)+marks.Between) && len(s) > len(best) {
			best = s
		}
	}
	if best != "" || marks.Before == "" {
		return best
	}
	if rest, ok := strings.CutPrefix(name, marks.Before); ok {
		server, _, _ := strings.Cut(rest, marks.Between)
		return server
	}
	return ""
}
