// Package upstream exposes the tools of other MCP servers again, as fewer and smaller ones.
// It knows tool definitions and arguments as JSON, but not how a server is reached:
// package connect knows that, and this package decides what a client sees and which upstream
// call a call of an exposed tool becomes.
//
// Every function depends on its input only, so the same upstream list gives the same bytes,
// as prompt caches require.
package upstream

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// Definition is one tool as its server lists it.
type Definition struct {
	Server      string          `json:"-"` // server's name in the configuration
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Annotations Annotations     `json:"annotations,omitzero"`

	// More are the fields that a model does not see and that a client may need, such as outputSchema and icons.
	More map[string]json.RawMessage `json:"-"`

	// Stored: the server listed it at an earlier start and has not answered at this one.
	Stored bool `json:"-"`

	schema map[string]any // InputSchema with local references expanded; nil when it is unusable
	cyclic bool           // InputSchema refers to itself
	lazy   *lazySchema    // compiles InputSchema
}

// ParseList parses the tools in one or more tools/list results of a server. An entry that
// is not an object or has no name is skipped and reported in problems; the others are not
// affected.
func ParseList(server string, results ...json.RawMessage) (list []Definition, problems []string, err error) {
	seen := map[string]bool{}
	for _, result := range results {
		var page struct {
			Tools []json.RawMessage `json:"tools"`
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, nil, fmt.Errorf("%s: tools/list: %w", server, err)
		}
		for i, raw := range page.Tools {
			d, problem := parseTool(server, raw)
			switch {
			case problem != "" && len(problems) >= maxProblems: // a list of nonsense says nothing new
			case problem != "":
				problems = append(problems, fmt.Sprintf("%s: tool %d: %s", server, i+1, problem))
			case seen[d.Name] && len(problems) < maxProblems:
				problems = append(problems, fmt.Sprintf("%s: tool %s is listed twice; the first counts", server, d.Name))
			case !seen[d.Name]:
				seen[d.Name] = true
				list = append(list, d)
			}
		}
	}
	return list, problems, nil
}

// maxProblems is the number of problems with a list that are reported.
const maxProblems = 20

func parseTool(server string, raw json.RawMessage) (d Definition, problem string) {
	var entry struct {
		Name        any             `json:"name"`
		Title       any             `json:"title"`
		Description any             `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations Annotations     `json:"annotations"`
	}
	if json.Unmarshal(raw, &entry) != nil {
		return d, "is not an object"
	}
	d.Server = server
	d.Name, _ = entry.Name.(string)
	d.Title, _ = entry.Title.(string)
	d.Description, _ = entry.Description.(string)
	d.Title, d.Description = beginning(d.Title), beginning(d.Description)
	d.InputSchema = entry.InputSchema
	d.Annotations = entry.Annotations
	d.More = moreOf(raw)
	if strings.TrimSpace(d.Name) == "" {
		return d, "has no name"
	}
	d.schema, d.cyclic = resolveSchema(d.InputSchema)
	d.lazy = new(lazySchema)
	return d, ""
}

// moreFields are the fields of a tool that are offered as they are.
var moreFields = []string{"title", "icons", "outputSchema", "execution", "_meta"}

func moreOf(raw json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // an object, as seen before
	maps.DeleteFunc(fields, func(name string, value json.RawMessage) bool {
		return !slices.Contains(moreFields, name) || string(value) == "null"
	})
	return fields
}

// takesTasks reports whether calls of the tool may go on as tasks.
func (d *Definition) takesTasks() bool {
	var execution struct{ TaskSupport string }
	return json.Unmarshal(d.More["execution"], &execution) == nil && (execution.TaskSupport == "optional" || execution.TaskSupport == "required")
}

// properties returns the parameters of the tool, including those of top-level alternatives,
// and the names that every valid call must have.
func (d *Definition) properties() (properties map[string]map[string]any, required []string) {
	d.lazy.reading.Do(func() { d.lazy.properties, d.lazy.required = parametersOf(d.schema) })
	return d.lazy.properties, slices.Clone(d.lazy.required)
}

// takesUnnamed reports whether the tool's schema says that it takes parameters without naming them.
func (d *Definition) takesUnnamed() bool {
	for _, rule := range []string{"additionalProperties", "patternProperties", "unevaluatedProperties"} {
		if says, there := d.schema[rule]; there && says != false {
			return true
		}
	}
	return false
}

// ParameterNames returns the names of the tool's parameters, in order.
func (d *Definition) ParameterNames() []string {
	properties, _ := d.properties()
	return slices.Sorted(maps.Keys(properties))
}

// Texts returns the first sentence of the tool's description, or its title, and the other sentences.
func (d *Definition) Texts() (opening, rest string) {
	return openingOf(orElse(d.Description, d.Title))
}

// lazySchema compiles a schema when its tool is first called: most tools are never called.
type lazySchema struct {
	once  sync.Once
	rules *schema.Schema // nil: it cannot be compiled

	reading    sync.Once
	properties map[string]map[string]any
	required   []string

	naming sync.Once
	plain  map[string]int // parameters of a name, by plainParam

	mending sync.Once
	slips   map[string]slip
}

func (d *Definition) compiled() *schema.Schema {
	d.lazy.once.Do(func() {
		if rules, err := schema.Compile(d.InputSchema); err == nil {
			d.lazy.rules = rules
		}
	})
	return d.lazy.rules
}

// slip says which values of a parameter are put right: null, and a text in the place of a value of other types.
type slip struct {
	null, text bool
	types      []string
}

// slips returns the slips of the tool's parameters, which are found once.
func (d *Definition) slips() map[string]slip {
	d.lazy.mending.Do(func() {
		properties, required := d.properties()
		d.lazy.slips = make(map[string]slip, len(properties))
		for name, property := range properties {
			types, _ := typesOf(property, 0)
			d.lazy.slips[name] = slip{!slices.Contains(types, "null") && !slices.Contains(required, name), !slices.Contains(types, "string"), types}
		}
	})
	return d.lazy.slips
}
