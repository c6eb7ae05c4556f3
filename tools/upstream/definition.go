// Package upstream re-exposes the tools of other MCP servers as fewer, smaller
// ones. It knows tool definitions and arguments as JSON and nothing of how a
// server is reached: the gateway in cmd connects, this package decides what a
// client sees and which upstream call an exposed call stands for.
//
// Everything here is a pure function of its input, so the same upstream list
// gives the same bytes, which prompt caches need.
package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Definition is one tool as its server lists it.
type Definition struct {
	Server      string          `json:"-"` // the server's name in the configuration
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Annotations Annotations     `json:"annotations,omitzero"`

	schema map[string]any // InputSchema without local references; nil when it is unusable
	cyclic bool           // InputSchema refers to itself
	lazy   *lazySchema    // InputSchema compiled
}

// Annotations are the hints of a tool that decide what a client may run unasked.
// A nil hint was not given.
type Annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// ParseList reads the tools of one or more tools/list results of a server. An
// entry without a name, or that is no object, is left out and named in problems;
// the others are not affected.
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
			case problem != "":
				problems = append(problems, fmt.Sprintf("%s: tool %d: %s", server, i+1, problem))
			case seen[d.Name]:
				problems = append(problems, fmt.Sprintf("%s: tool %s is listed twice; the first counts", server, d.Name))
			default:
				seen[d.Name] = true
				list = append(list, d)
			}
		}
	}
	return list, problems, nil
}

func parseTool(server string, raw json.RawMessage) (d Definition, problem string) {
	// A hint of the wrong type must not take the tool away: it is read apart.
	var entry struct {
		Name        any             `json:"name"`
		Title       any             `json:"title"`
		Description any             `json:"description"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Annotations json.RawMessage `json:"annotations"`
	}
	if json.Unmarshal(raw, &entry) != nil {
		return d, "is not an object"
	}
	d.Server = server
	d.Name, _ = entry.Name.(string)
	d.Title, _ = entry.Title.(string)
	d.Description, _ = entry.Description.(string)
	d.InputSchema = entry.InputSchema
	_ = json.Unmarshal(entry.Annotations, &d.Annotations) // hints only
	if strings.TrimSpace(d.Name) == "" {
		return d, "has no name"
	}
	d.schema, d.cyclic = resolved(d.InputSchema)
	d.lazy = new(lazySchema)
	return d, ""
}

// properties are the parameters of the tool, those of top-level alternatives
// included, and the names that every valid call has.
func (d *Definition) properties() (properties map[string]map[string]any, required []string) {
	return propertiesOf(d.schema)
}

// compactJSON is the smallest JSON of v, without escapes for HTML.
func compactJSON(v any) json.RawMessage {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // what was decoded from JSON can be encoded
		return json.RawMessage("{}")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	return v, nil
}
