package contextgc

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

const maxIDs = 10_000

// Limits that are checked in addition to the schemas that clients see. Descriptors belong
// to the client and may have any fields.
const (
	analyzeLimits = `{"properties": {"context_descriptors": {"properties": null}}}`
	idsLimits     = `{"properties": {"segment_ids": {"maxItems": 10000, "items": {"pattern": "^[A-Za-z0-9._-]{1,128}$"}}}}`
	getLimits     = `{"properties": {"pattern": {"maxLength": 1000}}}`
	searchLimits  = `{"properties": {"query": {"maxLength": 1000}, "path": {"maxLength": 4096}, "tags": {"minItems": null}}}`
)

// arguments holds arguments of valid types. Optional ones may be missing.
type arguments map[string]any

// builder makes a call and reports violations that a schema cannot express.
type builder func(arguments) (tools.Call, []tools.Issue)

// checked returns a tool's check. An optional argument with an empty string counts as
// absent, because models fill in every argument of a schema.
func checked(listed json.RawMessage, limits string, build builder) func(map[string]any) (tools.Call, []tools.Issue) {
	var shape struct{ Required []string }
	_ = json.Unmarshal(listed, &shape) // our own schema is valid
	check := tools.Checked(listed, limits, func(args map[string]any) (tools.Call, []tools.Issue) { return build(args) })
	return func(given map[string]any) (tools.Call, []tools.Issue) {
		given = maps.Clone(given)
		maps.DeleteFunc(given, func(name string, v any) bool { return v == "" && !slices.Contains(shape.Required, name) })
		return check(given)
	}
}

func (a arguments) text(name string) string { return schema.Value[string](a, name) }
func (a arguments) flag(name string) bool   { return schema.Value[bool](a, name) }
func (a arguments) number(name string) int  { return schema.Int(a[name]) }

func (a arguments) texts(name string) []string {
	var all []string
	for _, v := range schema.Value[[]any](a, name) {
		s, _ := v.(string)
		all = append(all, s)
	}
	return all
}

// descriptors returns the client's descriptors. Only the file and the task are used.
func (a arguments) descriptors(name string) *Descriptors {
	object := schema.Value[map[string]any](a, name)
	if object == nil {
		return nil
	}
	d := &Descriptors{CurrentFile: schema.Value[string](object, "current_file")}
	if file := schema.Value[map[string]any](object, "current_file"); file != nil {
		d.CurrentFile = schema.Value[string](file, "path")
	}
	d.TaskID = schema.Value[string](schema.Value[map[string]any](object, "task_info"), "task_id")
	return d
}
