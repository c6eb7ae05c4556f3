package tools

import (
	"bytes"
	"encoding/json"
)

// tool completes a tool: limits are the checks beyond the listed schema.
func (b *base) tool(t Tool, listed, limits string, check func(*base, rules, map[string]any) (Call, []Issue)) Tool {
	t.Root, t.InputSchema = b.root.Given(), compact(listed)
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
