package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Instructions tell a model what the tools are for and when to ask a focus question.
const Instructions = `read, bash and grep leave out what does not answer context_focus_question. ` +
	`Ask it of large or unknown output, in the words the text would use; ` +
	`not of short output or of what you are about to edit.`

// core are the tools of this package, in the order in which they are listed.
var core = []struct {
	name string
	make func(*base) Tool
}{{"read", newRead}, {"bash", newBash}, {"grep", newGrep}}

// Names returns the names of the tools that New can return.
func Names() []string {
	names := make([]string, len(core))
	for i, t := range core {
		names[i] = t.name
	}
	return names
}

// New returns the tools of this package, or those that Narrow names.
func New(s Settings) ([]Tool, error) {
	b, err := newBase(s)
	if err != nil {
		return nil, err
	}
	for _, want := range s.Narrow {
		if !slices.Contains(Names(), want) {
			return nil, fmt.Errorf("unknown tool %q, allowed: %s", want, strings.Join(Names(), ", "))
		}
	}
	var all []Tool
	for _, t := range core {
		if len(s.Narrow) == 0 || slices.Contains(s.Narrow, t.name) {
			all = append(all, t.make(b))
		}
	}
	return all, nil
}

// tool completes a tool: limits are the checks beyond the listed schema.
func (b *base) tool(t Tool, listed, limits string, check func(*base, rules, map[string]any) (Call, []Issue)) Tool {
	t.Root, t.InputSchema = b.root.Given, compact(listed)
	r := newRules(t.InputSchema, limits)
	t.Check = func(args map[string]any) (Call, []Issue) { return check(b, r, args) }
	return t
}

// compact removes the layout of a schema. Its arguments are literals of this package, so an
// invalid one is a bug.
func compact(schema string) json.RawMessage {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(schema)); err != nil {
		panic("tools: schema: " + err.Error())
	}
	return out.Bytes()
}
