package upstream

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
)

// Expose returns the exposed tools of one server, sorted by name, with as much prose as the
// target allows.
func Expose(s Server, mode Mode, o Options) []Exposed {
	list, _ := newTexts(s, mode, o).fitting(o.Target)
	return list
}

// texts are the forms of one server's exposed tools, from the most prose to none. Each is made when it is first needed.
type texts struct {
	mode    Mode
	plan    plan
	levels  []level
	raw     int // tokens of the server's own list
	lists   [][]Exposed
	sizes   []int
	measure func(string) int
}

func newTexts(s Server, mode Mode, o Options) *texts {
	n := len(levels[mode])
	all, read := slices.Clone(levels[mode]), map[excerpt]string{}
	for i := range all {
		all[i].read = read
	}
	return &texts{mode, planOf(s, mode, o), all, RawTokens(s.Tools, o.Tokens), make([][]Exposed, n), make([]int, n), o.Tokens}
}

// fitting returns the form with the most prose that fits the target, or the one without any, and its tokens.
func (t *texts) fitting(target float64) ([]Exposed, int) {
	if t.mode == Trimmed {
		target = min(target, TrimTarget)
	}
	allowed := float64(t.raw) * (1 - target)
	i := sort.Search(len(t.levels)-1, func(i int) bool { return float64(t.size(i)) <= allowed })
	size := t.size(i)
	return t.lists[i], size
}

func (t *texts) size(i int) int {
	if t.lists[i] == nil {
		t.lists[i] = t.plan.build(t.levels[i])
		t.sizes[i] = ListTokens(t.lists[i], t.measure)
	}
	return t.sizes[i]
}

func (p plan) build(l level) []Exposed {
	list := make([]Exposed, 0, len(p.tools))
	for _, t := range p.tools {
		switch {
		case t.pinned:
			list = append(list, asListed(t))
		case len(t.actions) == 1 && t.actions[0].Name == "":
			list = append(list, single(t, l))
		case p.mode == Trimmed: // the operator's group
			most := levels[Grouped][0]
			most.read = l.read
			list = append(list, grouped(t, most))
		default:
			list = append(list, grouped(t, l))
		}
	}
	if p.mode == Trimmed {
		sayHelp(list)
	}
	return list
}

// aboutHelp stands in the schema of a server's first tool that is shorter than its server lists it, even with this. In a
// tool's description its words would make searches find that tool.
const aboutHelp = `{"type":"object","description":"Shortened, as all tools of this server: {\"action\":\"help\"} alone returns the full text",`

func sayHelp(list []Exposed) {
	for i := range list {
		e := &list[i]
		d := e.Actions[0].Def
		rest, made := strings.CutPrefix(string(e.InputSchema), `{"type":"object",`)
		if made && len(visible("", d.Description, d.InputSchema)) > len(visible("", e.Description, e.InputSchema))+len(aboutHelp) {
			e.InputSchema = json.RawMessage(aboutHelp + rest)
			return
		}
	}
}

// asListed returns a tool with its server's own description and schema, as far as the
// schema is valid.
func asListed(t planned) Exposed {
	d := t.actions[0].Def
	schema := d.InputSchema
	if d.schema["type"] != "object" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	return Exposed{Name: t.name, Title: d.Title, Description: d.Description, InputSchema: schema,
		Annotations: d.hints(), Actions: t.actions, Why: t.why, More: d.More, whole: true}
}

// single returns a tool for one upstream tool.
func single(t planned, l level) Exposed {
	d := t.actions[0].Def
	properties, required := d.properties()
	params := make([]param, 0, len(properties))
	rename, shown := map[string]string{}, map[string]string{}
	detail := l.detail().Of(d.Name)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		exposed := name
		if !validName(name, maxParam) {
			exposed = d.paramName(name)
			rename[exposed], shown[name] = name, exposed
		}
		params = append(params, param{exposed, shapeOf(properties[name], detail.Of(name))})
	}
	for i, name := range required {
		required[i] = cmp.Or(shown[name], name)
	}
	a := t.actions[0]
	a.Rename = rename
	description := t.description
	if description == "" {
		description = clip(orElse(d.Description, d.Title), l.tool)
	}
	if len(t.actions[0].Def.Description) == 0 && description == "" {
		description = strings.Join(splitName(d.Name), " ")
	}
	e := Exposed{Name: t.name, Description: description, Annotations: d.hints(), Actions: []Action{a}, Why: t.why, More: d.More}
	if t.asks {
		params, e.asks = withFocus(params)
		e.More = maps.Clone(e.More) // its structured results may be removed, which the schema would forbid
		delete(e.More, "outputSchema")
	}
	e.InputSchema = objectSchema(params, required)
	return e
}
