package contextgc

import (
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// property is one argument of a tool.
type property struct {
	Type        string               `json:"type"`
	Description string               `json:"description,omitempty"`
	Enum        []string             `json:"enum,omitempty"`
	Pattern     string               `json:"pattern,omitempty"`
	Minimum     *int                 `json:"minimum,omitempty"`
	Maximum     *int                 `json:"maximum,omitempty"`
	MinItems    int                  `json:"minItems,omitempty"`
	Items       *property            `json:"items,omitempty"`
	Properties  map[string]*property `json:"properties,omitempty"`
}

// object returns a closed schema with the given properties; encoding/json sorts them.
func object(required []string, properties map[string]*property) json.RawMessage {
	return jsonspan.Encode(struct {
		Type       string               `json:"type"`
		Properties map[string]*property `json:"properties"`
		Required   []string             `json:"required,omitempty"`
		Additional bool                 `json:"additionalProperties"`
	}{"object", properties, required, false})
}

func text(description string) *property { return &property{Type: "string", Description: description} }

func id(description string) *property {
	return &property{Type: "string", Description: description, Pattern: idPattern().String()}
}

func ids(description string) *property {
	return &property{Type: "array", Description: description, MinItems: 1, Items: &property{Type: "string"}}
}

func number(description string, least, most int) *property {
	return &property{Type: "integer", Description: description, Minimum: &least, Maximum: &most}
}

func flag(description string) *property { return &property{Type: "boolean", Description: description} }

func choice(description string, allowed ...string) *property {
	return &property{Type: "string", Description: description, Enum: allowed}
}

// descriptorsSchema lists the fields of the descriptors that are used; others are allowed.
func descriptorsSchema() *property {
	return &property{
		Type: "object", Description: "What you are working on; it and all it refers to is kept.",
		Properties: map[string]*property{
			"current_file": {Type: "object", Properties: map[string]*property{"path": {Type: "string"}}},
			"task_info":    {Type: "object", Properties: map[string]*property{"task_id": {Type: "string"}}},
		},
	}
}
