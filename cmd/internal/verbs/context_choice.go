package verbs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// contextChoice has the parts that one switch takes out of the prefix: one part, all of a server, or the tools of a feature.
type contextChoice struct {
	prefix.SwitchedOff
	parts []int // indexes of the report's parts
}

// choices groups the parts by the switch that takes them out. A server goes as a whole if no session used it.
func (r *contextReport) choices() (list []contextChoice) {
	for i, p := range r.Parts {
		thing := agent.Thing{Kind: string(p.Kind), Name: p.Name, Server: p.Server}
		switch {
		case p.Server != "" && (p.Kind == sessions.ToolPart || p.Kind == sessions.OtherPart) && !r.used(p.Server):
			thing = agent.Thing{Kind: "server", Name: p.Server}
		case p.Kind != sessions.ToolPart && p.Kind != sessions.SkillPart && p.Kind != sessions.AgentPart:
			continue
		}
		s := r.client.Prefix.Switch(thing)
		if s == nil && thing.Kind == "server" && p.Kind == sessions.ToolPart { // the client has no switch for all of it
			thing = agent.Thing{Kind: "tool", Name: p.Name, Server: p.Server}
			s = r.client.Prefix.Switch(thing)
		}
		if s == nil {
			continue
		}
		at := slices.IndexFunc(list, func(c contextChoice) bool { return reflect.DeepEqual(c.Switch, *s) })
		if at < 0 {
			at = len(list)
			list = append(list, contextChoice{SwitchedOff: prefix.SwitchedOff{Thing: thing, Switch: *s}})
		}
		list[at].parts = append(list[at].parts, i)
		list[at].Tokens += p.Tokens
	}
	return list
}

func (r *contextReport) used(server string) bool {
	return slices.ContainsFunc(r.Parts, func(p contextPart) bool { return p.Server == server && p.Used > 0 && p.Kind == sessions.ToolPart })
}

// judge decides which choices can go, each as a whole. A part that no switch takes out stays.
func (r *contextReport) judge(use *sessions.PartUse) {
	switched := map[int]bool{}
	for _, c := range r.choices() {
		var together []sessions.Part
		for _, i := range c.parts {
			p := r.Parts[i].Part
			if p.Server == "" {
				p.Tokens = c.Tokens
			}
			together = append(together, p)
		}
		verdicts := sessions.Judge(together, use)
		stays := slices.IndexFunc(verdicts, func(v sessions.PartVerdict) bool { return !v.CanGo })
		for k, i := range c.parts {
			switched[i] = true
			r.Parts[i].CanGo, r.Parts[i].Why = stays < 0, verdicts[k].Why
			if stays >= 0 && verdicts[k].CanGo {
				r.Parts[i].Why = fmt.Sprintf("its switch would take %s with it", verdicts[stays].Name)
			}
		}
	}
	for i := range r.Parts {
		if !switched[i] && r.Parts[i].CanGo {
			r.Parts[i].CanGo, r.Parts[i].Why = false, "no switch of the client removes it"
		}
	}
}

// chosen returns the choices with the names, or all that can go if there are no names. wrong says of each name that cannot be
// switched off, why.
func (r *contextReport) chosen(names []string) (list []contextChoice, wrong []string) {
	all := r.choices()
	if len(names) == 0 {
		return slices.DeleteFunc(all, func(c contextChoice) bool { return !r.Parts[c.parts[0]].CanGo }), nil
	}
	for _, name := range names {
		at := slices.IndexFunc(all, func(c contextChoice) bool {
			return c.Name == name || slices.ContainsFunc(c.parts, func(i int) bool { return r.Parts[i].Name == name })
		})
		if at < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %s", name, r.unknown(name)))
			continue
		}
		if why := r.barred(all[at]); why != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", name, why))
			continue
		}
		if !slices.ContainsFunc(list, func(c contextChoice) bool { return reflect.DeepEqual(c.Switch, all[at].Switch) }) {
			list = append(list, all[at])
		}
	}
	return list, wrong
}

func (r *contextReport) unknown(name string) string {
	at := slices.IndexFunc(r.Parts, func(p contextPart) bool { return p.Name == name || p.Server == name })
	if at < 0 {
		return "the prefix has no part of this name"
	}
	return "no switch of the client removes it"
}

// barred returns why a choice is never switched off, though its user names it.
func (r *contextReport) barred(c contextChoice) string {
	for _, i := range c.parts {
		p := r.Parts[i]
		switch {
		case p.Decided != "":
			return "decided by " + p.Decided
		case sessions.IsWorkTool(p.Part):
			return strings.TrimSpace(fmt.Sprintf("agents work with %s", p.Name))
		}
	}
	return ""
}
