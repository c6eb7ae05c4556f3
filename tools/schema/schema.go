// Package schema validates JSON values against JSON Schemas and reports every violation
// with the path of the value and an issue code of zod v3.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	steps    *steps // nil: without references, the schema's length bounds what a check takes
}

// Compile compiles a schema, draft 2020-12 unless it names another one. Each patch is a
// JSON merge patch (RFC 7396) that is applied first: a schema that clients see may leave
// out limits that are checked all the same.
func Compile(raw json.RawMessage, patches ...string) (*Schema, error) {
	document, err := decode(raw)
	if err != nil {
		return nil, err
	}
	for _, p := range patches {
		patch, err := decode([]byte(p))
		if err != nil {
			return nil, fmt.Errorf("merge patch: %w", err)
		}
		document = merge(document, patch)
	}
	if subschemas(document, 0) > maxSubschemas {
		return nil, errTooLarge
	}
	dropForeignDialect(document)
	const address = "mem:///schema.json"
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	var counted *steps
	if bytes.Contains(raw, []byte(`Ref"`)) || bytes.Contains(raw, []byte(`ref"`)) || bytes.Contains(raw, []byte(`\u`)) {
		counted = new(steps)
		counted.in(c)
	}
	if err := c.AddResource(address, document); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(address)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled, counted}, nil
}

// Limits of a schema, whose compiler takes time that grows with the square of its width and the cube of its depth.
const (
	maxSubschemas = 5000
	maxDepth      = 128
)

var errTooLarge = errors.New("the schema is nested too deeply or has too many parts")

// subschemas returns how many parts of a document may be schemas, or more than the limit if it is nested too deeply.
func subschemas(document any, depth int) int {
	count := 1
	switch v := document.(type) {
	case map[string]any:
		for _, member := range v {
			count += subschemas(member, depth+1)
		}
	case []any:
		for _, item := range v {
			count += subschemas(item, depth+1)
		}
	case bool:
	default:
		return 0
	}
	if depth > maxDepth {
		return maxSubschemas + 1
	}
	return count
}

// MustCompile is Compile for schemas that are constants of the program.
func MustCompile(raw json.RawMessage, patches ...string) *Schema {
	s, err := Compile(raw, patches...)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return s
}

func decode(raw []byte) (any, error) {
	return jsonschema.UnmarshalJSON(bytes.NewReader(raw))
}

// merge applies a JSON merge patch: null removes a member, objects are merged member by
// member, and any other value replaces what is there.
func merge(into, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := into.(map[string]any)
	if !ok {
		object = make(map[string]any, len(changes))
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
			continue
		}
		object[name] = merge(object[name], value)
	}
	return object
}

// dropForeignDialect removes a $schema that names no dialect of JSON Schema, such as the
// address of somebody's documentation: the default dialect then applies.
func dropForeignDialect(document any) {
	object, _ := document.(map[string]any)
	named, given := object["$schema"]
	if text, _ := named.(string); given && !strings.Contains(text, "json-schema.org") {
		delete(object, "$schema")
	}
}

// noLoader keeps a schema from reading files or the network.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema may not refer to other documents", url)
}
