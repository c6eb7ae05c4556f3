package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

func offered(t *testing.T) map[string]tools.Tool {
	t.Helper()
	all, err := tools.New(tools.Settings{Root: t.TempDir()})
	require.NoError(t, err)
	byName := make(map[string]tools.Tool)
	for _, tool := range all {
		byName[tool.Name] = tool
	}
	return byName
}

// TestArgumentsEqualTheDesign compares the checks and schemas of all tools with the transcribed design: the type of
// each argument, whether it is required, its limits in the schema, and values on both sides of each limit.
func TestArgumentsEqualTheDesign(t *testing.T) {
	byName := offered(t)
	for _, row := range readSpec(t, "arguments.md").rows {
		t.Run(row["field"], func(t *testing.T) {
			for _, problem := range argumentDifferences(t, byName, row) {
				t.Error(problem)
			}
		})
	}
}

func TestNoArgumentIsMissingFromTheTranscription(t *testing.T) {
	var fields []string
	for _, row := range readSpec(t, "arguments.md").rows {
		fields = append(fields, row["field"])
	}
	for name, tool := range offered(t) {
		for property := range schemaOf(t, tool)["properties"].(map[string]any) {
			assert.Contains(t, fields, name+"."+property)
		}
	}
	for i := range 20 {
		assert.Equal(t, fmt.Sprintf("D%d", i+1), readSpec(t, "arguments.md").rows[i]["row"])
	}
}

// TestAMutatedArgumentIsNamed proves that the comparison finds every change of a transcribed row and names the field.
func TestAMutatedArgumentIsNamed(t *testing.T) {
	byName := offered(t)
	for _, row := range readSpec(t, "arguments.md").rows {
		mutations := map[string]map[string]string{
			"required": {"yes": "no", "no": "yes"},
			"type":     {"string": "integer", "integer": "number", "boolean": "string", "object": "array", "array": "object"},
		}
		for column, other := range mutations {
			assertNamed(t, byName, row, column, other[row[column]])
		}
		assertNamed(t, byName, row, "schema", row["schema"]+" minimum=99")
		assertNamed(t, byName, row, "accepted", row["accepted"]+" ; "+firstValue(row["refused"]))
		assertNamed(t, byName, row, "refused", row["refused"]+" ; "+firstValue(row["accepted"])+" custom")
	}
}

func assertNamed(t *testing.T, byName map[string]tools.Tool, row map[string]string, column, value string) {
	t.Helper()
	mutated := maps.Clone(row)
	mutated[column] = value
	found := argumentDifferences(t, byName, mutated)
	require.NotEmpty(t, found, "%s: %s = %s", row["field"], column, value)
	assert.Contains(t, found[0], row["row"]+" "+row["field"])
}

func firstValue(column string) string {
	first, _, _ := strings.Cut(column, " ; ")
	value, _, _ := splitRefused(first)
	return value
}

func schemaOf(t *testing.T, tool tools.Tool) map[string]any {
	t.Helper()
	var schema map[string]any
	require.NoError(t, json.Unmarshal(tool.InputSchema, &schema))
	return schema
}

func argumentDifferences(t *testing.T, byName map[string]tools.Tool, row map[string]string) []string {
	t.Helper()
	name, field, _ := strings.Cut(row["field"], ".")
	found := schemaDifferences(schemaOf(t, byName[name]), field, row)
	check := func(value string) []string {
		args := make(map[string]any)
		require.NoError(t, json.Unmarshal([]byte(row["base"]), &args))
		args[field] = parseValue(t, value)
		_, issues := byName[name].Check(args)
		var texts []string
		for _, i := range issues {
			texts = append(texts, "arguments."+i.Path+":"+i.Code)
		}
		slices.Sort(texts)
		return texts
	}
	for _, value := range strings.Split(row["accepted"], " ; ") {
		if issues := check(value); len(issues) > 0 {
			found = append(found, fmt.Sprintf("accepts %s: got %v", value, issues))
		}
	}
	for _, entry := range strings.Split(row["refused"], " ; ") {
		value, codes, _ := splitRefused(entry)
		var want []string
		for _, code := range strings.Split(codes, ",") {
			if !strings.Contains(code, ":") {
				code = "arguments." + field + ":" + code
			}
			want = append(want, code)
		}
		slices.Sort(want)
		if issues := check(value); !slices.Equal(want, issues) {
			found = append(found, fmt.Sprintf("refuses %s with %v: got %v", value, want, issues))
		}
	}
	for i := range found {
		found[i] = row["row"] + " " + row["field"] + " " + found[i]
	}
	return found
}

func splitRefused(entry string) (value, codes string, ok bool) {
	i := strings.LastIndex(entry, " ")
	if i < 0 {
		return entry, "", false
	}
	return entry[:i], entry[i+1:], true
}

func schemaDifferences(schema map[string]any, field string, row map[string]string) []string {
	var found []string
	property, ok := schema["properties"].(map[string]any)[field].(map[string]any)
	if !ok {
		return []string{"is not in the schema"}
	}
	if property["type"] != row["type"] {
		found = append(found, fmt.Sprintf("has type %v in the schema", property["type"]))
	}
	required, _ := schema["required"].([]any)
	if slices.Contains(required, any(field)) != (row["required"] == "yes") {
		found = append(found, "is required differently in the schema")
	}
	if schema["additionalProperties"] != false {
		found = append(found, "has a schema that lets unknown arguments through")
	}
	for _, word := range strings.Fields(row["schema"]) {
		key, value, _ := strings.Cut(word, "=")
		have, _ := json.Marshal(property[key])
		if string(have) != value {
			found = append(found, fmt.Sprintf("has %s=%s in the schema, not %s", key, have, value))
		}
	}
	return found
}

// parseValue parses a value of the transcription: JSON, or UNIT*N. UNIT is a JSON string to repeat, env (N variables)
// or paths (N paths). "x*N" inside an object also means a string of N characters.
func parseValue(t *testing.T, text string) any {
	t.Helper()
	var n int
	if unit, count, ok := strings.Cut(text, "*"); ok && !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, `"*`) {
		_, err := fmt.Sscan(count, &n)
		require.NoError(t, err, text)
		return repeated(t, unit, n)
	}
	if _, count, ok := strings.Cut(text, "x*"); ok {
		_, err := fmt.Sscan(strings.Trim(count, `"}`), &n)
		require.NoError(t, err, text)
		text = strings.Replace(text, fmt.Sprintf("x*%d", n), strings.Repeat("x", n), 1)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), text)
	return v
}

func repeated(t *testing.T, unit string, n int) any {
	t.Helper()
	switch unit {
	case "env":
		env := make(map[string]any)
		for i := range n {
			env[fmt.Sprintf("N%d", i)] = ""
		}
		return env
	case "paths":
		return slices.Repeat([]any{"a"}, n)
	}
	var s string
	require.NoError(t, json.Unmarshal([]byte(unit), &s), unit)
	return strings.Repeat(s, n)
}
