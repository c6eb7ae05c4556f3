package upstream

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// Call is the upstream call for a call of an exposed tool.
type Call struct {
	Def       *Definition
	Action    string // "" when the exposed tool has none
	Arguments map[string]any
	Passed    map[string]string // names of the arguments that the model gave, by the exposed ones
	Question  string            // the model's focus question for pruning the result; "": it asked none
}

// helpAction is the action that returns the full descriptions and schemas of a tool's
// actions.
const helpAction = "help"

// Translate converts the arguments of an exposed tool to an upstream call. Those of an action are checked
// against the original schema. refusal is a text for the model: the violations and the
// action's usage. help is the answer to action=help. Exactly one of the three results is
// set.
func (e *Exposed) Translate(args map[string]any) (call *Call, help, refusal string) {
	question, args := e.takeFocus(args)
	if e.asksHelp(args) {
		return nil, e.Help(helpAction), ""
	}
	action, refusal := e.pick(args)
	if refusal != "" {
		if given, ok := args["action"].(string); ok && e.isHelp(given) {
			return nil, e.Help(given), ""
		}
		return nil, "", refusal
	}
	translated, passed := make(map[string]any, len(args)+len(action.Route.Set)), make(map[string]string, len(args))
	for name, value := range args {
		if name == "action" && action.Name != "" {
			continue
		}
		upstream := cmp.Or(action.Rename[name], name)
		if upstream == "subaction" && action.Name != "" && action.undeclared("subaction") {
			upstream = "action"
		}
		translated[upstream], passed[name] = value, upstream
	}
	if refusal := action.refuseExtra(e, translated); refusal != "" {
		return nil, "", refusal
	}
	maps.Copy(translated, action.Route.Set)
	translated = action.Def.mended(translated)
	if action.Name != "" { // else the server checks: the tool is its own
		if refusal := action.check(e, translated); refusal != "" {
			return nil, "", refusal
		}
	}
	call = &Call{Def: action.Def, Action: action.Name, Arguments: translated, Passed: passed, Question: question}
	return call, "", ""
}

// MayChange reports whether an argument of the tool, the first byte of whose JSON is given, may not go to the server as it is.
func (e *Exposed) MayChange(name string, first byte) bool {
	a := e.Actions[0]
	s := a.Def.slips()[name]
	return len(a.Rename) > 0 || name == "action" || s.null && first == 'n' || s.text && first == '"'
}

// pick returns the action that the arguments name.
func (e *Exposed) pick(args map[string]any) (*Action, string) {
	if len(e.Actions) == 1 && e.Actions[0].Name == "" {
		return &e.Actions[0], ""
	}
	given, isText := args["action"].(string)
	for i := range e.Actions {
		if isText && e.Actions[i].Name == given {
			return &e.Actions[i], ""
		}
	}
	valid := strings.Join(e.actionNames(), "|")
	switch near := closest(given, e.actionNames()); {
	case args["action"] == nil:
		return nil, "action is missing. Valid: " + valid
	case !isText:
		return nil, "action has to be a string. Valid: " + valid
	case near != "":
		return nil, fmt.Sprintf("Invalid action %q: did you mean %q? Valid: %s", given, near, valid)
	default:
		return nil, fmt.Sprintf("Invalid action %q. Valid: %s (action=help shows all of them in full)", given, valid)
	}
}

func (e *Exposed) actionNames() []string {
	names := make([]string, len(e.Actions))
	for i := range e.Actions {
		names[i] = e.Actions[i].Name
	}
	return names
}

func (e *Exposed) isHelp(given string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(given), " ")
	return first == helpAction && !slices.Contains(e.actionNames(), helpAction)
}

// asksHelp reports whether a call of a tool without actions has action=help as its only
// argument, and the tool can have no such parameter and is not listed as its server lists it.
func (e *Exposed) asksHelp(args map[string]any) bool {
	a := e.Actions[0]
	return a.Name == "" && !e.whole && len(args) == 1 && args["action"] == helpAction && a.undeclared("action") && !a.Def.takesUnnamed()
}

// Help returns the original description and input schema of every action, or only of the
// action named after help ("help install").
func (e *Exposed) Help(given string) string {
	_, only, _ := strings.Cut(strings.TrimSpace(given), " ")
	var out strings.Builder
	for _, a := range e.Actions {
		if only != "" && a.Name != only {
			continue
		}
		fmt.Fprintf(&out, "## %s\n%s\n", a.usage(), strings.TrimSpace(orElse(a.Def.Description, a.Def.Title)))
		if len(a.Route.Set) > 0 {
			fmt.Fprintf(&out, "Fixed: %s\n", compactJSON(a.Route.Set))
		}
		fmt.Fprintf(&out, "Input schema of %s: %s\n\n", a.Def.Name, a.Def.InputSchema)
	}
	if out.Len() == 0 {
		return fmt.Sprintf("No action %q. Valid: %s", only, strings.Join(e.actionNames(), "|"))
	}
	return strings.TrimSpace(out.String())
}

// usage describes an action with its exposed parameters.
func (a *Action) usage() string {
	if a.Name == "" {
		return a.Def.Name + "(" + strings.Join(a.Parameters(), ", ") + ")"
	}
	return strings.Join(append([]string{"action=" + a.Name}, a.Parameters()...), ", ")
}

// Parameters returns the exposed names of an action's parameters, the required ones first. Optional ones end in a question mark.
func (a *Action) Parameters() []string {
	properties, required := a.Def.properties()
	exposed := map[string]string{}
	for to, from := range a.Rename {
		exposed[from] = to
	}
	var needed, optional []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !a.takes(name) {
			continue
		}
		shown := cmp.Or(exposed[name], name)
		if slices.Contains(required, name) || slices.Contains(a.Route.Require, name) {
			needed = append(needed, shown)
		} else {
			optional = append(optional, shown+"?")
		}
	}
	return append(needed, optional...)
}

func (a *Action) undeclared(name string) bool {
	properties, _ := a.Def.properties()
	return properties[name] == nil
}

// refuseExtra refuses a parameter that the operator's mapping does not allow for an action,
// and a value for a parameter that the mapping fixes.
func (a *Action) refuseExtra(e *Exposed, args map[string]any) string {
	if !a.Route.restricts() {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, fixed := a.Route.Set[name]; fixed || a.Route.listed && !a.takes(name) {
			return a.teach(e, fmt.Sprintf("%s is not a parameter of this action", name))
		}
	}
	for _, name := range a.Route.Require {
		if _, given := args[name]; !given {
			return a.teach(e, "missing "+name)
		}
	}
	return ""
}

// check validates arguments against the original schema. A parameter with a default may be
// missing. If the schema cannot be compiled, it accepts everything and leaves the checks to
// the server.
func (a *Action) check(e *Exposed, args map[string]any) string {
	rules := a.Def.compiled()
	if rules == nil {
		return ""
	}
	properties, _ := a.Def.properties()
	found := slices.DeleteFunc(rules.Check(map[string]any(args)), func(f schema.Finding) bool {
		return f.Missing && len(f.At) == 1 && hasDefault(properties[f.At[0]])
	})
	if len(found) == 0 {
		return ""
	}
	return a.teach(e, strings.Join(a.explain(found), "; "))
}

func (a *Action) teach(e *Exposed, problem string) string {
	return fmt.Sprintf("%s: %s. Usage: %s", e.Name, problem, a.usage())
}

// maxExplained bounds the number of violations in an error text.
const maxExplained = 5

// explain describes violations in plain words, with the exposed names of the parameters.
func (a *Action) explain(found []schema.Finding) []string {
	exposed := map[string]string{}
	for to, from := range a.Rename {
		exposed[from] = to
	}
	var list []string
	for _, f := range found {
		at := slices.Clone(f.At)
		if len(at) > 0 && exposed[at[0]] != "" {
			at[0] = exposed[at[0]]
		}
		switch where := strings.Join(at, "."); {
		case f.Missing:
			list = append(list, "missing "+where)
		case where == "":
			list = append(list, f.Text)
		default:
			list = append(list, where+": "+f.Text)
		}
	}
	slices.Sort(list)
	return list[:min(len(list), maxExplained)]
}

// takeFocus removes the question from a call's arguments and returns both.
func (e *Exposed) takeFocus(args map[string]any) (question string, rest map[string]any) {
	if _, given := args[focusParam]; !e.asks || !given {
		return "", args
	}
	rest = maps.Clone(args)
	delete(rest, focusParam)
	question, _ = args[focusParam].(string)
	return strings.TrimSpace(question), rest
}

// closest returns the name most similar to the given one, or "" if none is similar.
func closest(given string, names []string) string {
	if given == "" || len(names) == 0 {
		return ""
	}
	distance := func(name string) int { return EditDistance(strings.ToLower(given), strings.ToLower(name)) }
	nearest := slices.MinFunc(names, func(a, b string) int { return distance(a) - distance(b) })
	if distance(nearest) <= 1+len(given)/4 {
		return nearest
	}
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, given) || strings.HasPrefix(given, name) })
	if i < 0 {
		return ""
	}
	return names[i]
}
