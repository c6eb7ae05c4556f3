package upstream

import (
	"encoding/json"
	"slices"
	"strings"
)

// Exposed is one tool of the gateway's list.
type Exposed struct {
	Name        string
	Title       string
	Description string
	InputSchema json.RawMessage
	Annotations Annotations
	Actions     []Action // a single one without a Name when the tool takes no action
	Why         string   // reason for this form, for an operator

	More map[string]json.RawMessage // fields that a model does not see, such as outputSchema and icons

	asks  bool // has the parameter focusParam besides those of its actions
	whole bool // has its server's own texts and schema
}

// Server returns the name of the server that receives the tool's calls.
func (e *Exposed) Server() string { return e.Actions[0].Def.Server }

// Wire returns the tool as sent in tools/list.
func (e *Exposed) Wire() json.RawMessage {
	return compactJSON(Definition{Name: e.Name, Title: e.Title, Description: e.Description, InputSchema: e.InputSchema, Annotations: e.Annotations})
}

// Action is one upstream call that an exposed tool can make.
type Action struct {
	Name  string // value of the parameter action; "" when there is none
	Def   *Definition
	Route Route
	// Rename maps exposed parameter names to upstream names, where they differ.
	Rename map[string]string
}

// takes reports whether the action accepts an upstream parameter.
func (a Action) takes(name string) bool {
	if _, fixed := a.Route.Set[name]; fixed {
		return false
	}
	return !a.Route.listed || slices.Contains(a.Route.Params, name)
}

// ListTokens returns the number of tokens of a list that a model sees: names, descriptions
// and input schemas.
func ListTokens(list []Exposed, tokens func(string) int) int {
	sum := 0
	for _, e := range list {
		sum += tokens(visible(e.Name, e.Description, e.InputSchema))
	}
	return sum
}

// RawTokens returns the number of tokens of a server's own list as a model would see it.
func RawTokens(tools []Definition, tokens func(string) int) int {
	sum := 0
	for i := range tools {
		sum += tokens(visible(tools[i].Name, tools[i].Description, tools[i].InputSchema))
	}
	return sum
}

// visible returns the text that a model sees of a tool.
func visible(name, description string, schema json.RawMessage) string {
	if len(schema) == 0 {
		schema = json.RawMessage("{}")
	}
	return string(compactJSON(map[string]any{"name": name, "description": description, "input_schema": schema}))
}

func orElse(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
}
