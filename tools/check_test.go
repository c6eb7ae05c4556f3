package tools

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// argumentCase is one line of testdata/arguments.jsonl. In its args ROOT is the
// root, "REPEAT n s" is n times s, "REPEATED n s" a list of n times s, and
// {"ENTRIES": n} an object of n entries.
type argumentCase struct {
	Tool    string         `json:"tool"`
	Aliases bool           `json:"aliases"`
	Args    map[string]any `json:"args"`
	Issues  []string       `json:"issues"` // "path code"
}

func argumentCases(t testing.TB) []argumentCase {
	t.Helper()
	f, err := os.Open("testdata/arguments.jsonl")
	require.NoError(t, err)
	defer f.Close()
	var cases []argumentCase
	for lines := bufio.NewScanner(f); lines.Scan(); {
		dec := json.NewDecoder(strings.NewReader(lines.Text()))
		dec.UseNumber()
		dec.DisallowUnknownFields()
		var c argumentCase
		require.NoError(t, dec.Decode(&c), lines.Text())
		cases = append(cases, c)
	}
	return cases
}

// expand replaces the short forms in a case's arguments.
func expand(v any, root string) any {
	switch v := v.(type) {
	case string:
		word := strings.SplitN(v, " ", 3)
		n := 0
		if len(word) == 3 {
			n, _ = strconv.Atoi(word[1])
		}
		switch word[0] {
		case "REPEAT":
			return strings.Repeat(word[2], n)
		case "REPEATED":
			return slices.Repeat([]any{word[2]}, n)
		}
		return strings.Replace(v, "ROOT", root, 1)
	case []any:
		for i := range v {
			v[i] = expand(v[i], root)
		}
	case map[string]any:
		if n, ok := v["ENTRIES"].(json.Number); ok {
			many := map[string]any{}
			for i, _ := strconv.Atoi(n.String()); i > 0; i-- {
				many["E"+strconv.Itoa(i)] = "x"
			}
			return many
		}
		for key := range v {
			v[key] = expand(v[key], root)
		}
	}
	return v
}

func TestArguments(t *testing.T) {
	root := t.TempDir()
	for _, c := range argumentCases(t) {
		tool := newTools(t, Settings{Root: root, Aliases: c.Aliases})[c.Tool]
		args := expand(c.Args, root).(map[string]any)
		for _, decoded := range []map[string]any{args, floats(args).(map[string]any)} {
			call, issues := tool.Check(decoded)
			got := []string{}
			for _, i := range issues {
				got = append(got, i.Path+" "+i.Code)
			}
			assert.Equal(t, c.Issues, got, "%s %v", c.Tool, c.Args)
			assert.Equal(t, len(issues) == 0, call != nil)
		}
	}
}

// floats is the same value as a decoder without UseNumber gives it.
func floats(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(v.String(), 64)
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = floats(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			out[key] = floats(v[key])
		}
		return out
	}
	return v
}

func TestFocusQuestionIsTrimmed(t *testing.T) {
	tool := newTools(t, Settings{})["read"]
	assert.Equal(t, "why?", checked(t, tool, `{"file_path":"a","context_focus_question":" why?\n"}`).FocusQuestion())
	assert.Empty(t, checked(t, tool, `{"file_path":"a"}`).FocusQuestion())
}

// schemaProperty is the part of a schema's property that the tests read.
type schemaProperty struct {
	Type                 string
	Description          string
	Minimum, Maximum     *int
	MinLength, MaxLength *int
	Enum                 []string
	Default              any
}

// TestSchemasSayWhatChecksDo calls every tool with the bounds its schema states
// and with the values just beyond them.
func TestSchemasSayWhatChecksDo(t *testing.T) {
	required := map[string]string{"read": "file_path", "bash": "command", "grep": "pattern"}
	for name, tool := range newTools(t, Settings{}) {
		var schema struct {
			Type                 string
			Properties           map[string]schemaProperty
			Required             []string
			AdditionalProperties *bool
			OneOf, AnyOf, AllOf  []any
		}
		require.NoError(t, json.Unmarshal(tool.InputSchema, &schema))
		assert.Equal(t, "object", schema.Type)
		assert.Equal(t, []string{required[name]}, schema.Required)
		assert.False(t, *schema.AdditionalProperties)
		assert.Empty(t, schema.OneOf)
		assert.Less(t, utf8.RuneCountInString(tool.Description), 1000)
		for arg, p := range schema.Properties {
			try := func(v any) []Issue {
				_, issues := tool.Check(map[string]any{required[name]: "x", arg: v})
				return issues
			}
			about := fmt.Sprintf("%s.%s", name, arg)
			assert.NotEmpty(t, p.Type, about)
			assert.Less(t, len(p.Description), 120, about)
			if p.Default != nil {
				assert.Empty(t, try(p.Default), about)
			}
			switch p.Type {
			case "integer":
				assert.Empty(t, try(float64(*p.Minimum)), about)
				if p.Maximum != nil {
					assert.Empty(t, try(float64(*p.Maximum)), about)
					assert.Equal(t, []Issue{{arg, "too_big"}}, try(float64(*p.Maximum)+1), about)
				}
				assert.Equal(t, []Issue{{arg, "too_small"}}, try(float64(*p.Minimum)-1), about)
			case "string":
				if p.Enum != nil {
					for _, v := range p.Enum {
						assert.Empty(t, try(v), about)
					}
					assert.NotEmpty(t, try("no such value"), about)
					continue
				}
				assert.Equal(t, []Issue{{arg, "too_small"}}, try(""), about)
				if p.MaxLength != nil {
					assert.Empty(t, try(strings.Repeat("é", *p.MaxLength)), about)
					assert.Equal(t, []Issue{{arg, "too_big"}}, try(strings.Repeat("é", *p.MaxLength+1)), about)
				}
			}
		}
	}
}

func TestSchemasAreStable(t *testing.T) {
	a, b := newTools(t, Settings{}), newTools(t, Settings{})
	for name := range a {
		assert.Equal(t, string(a[name].InputSchema), string(b[name].InputSchema))
		assert.NotContains(t, string(a[name].InputSchema), "\n")
	}
}

func FuzzArguments(f *testing.F) {
	for _, c := range argumentCases(f) {
		args, _ := json.Marshal(c.Args)
		f.Add(c.Tool, string(args))
	}
	root := f.TempDir()
	list, err := New(Settings{Root: root, Aliases: true})
	require.NoError(f, err)
	codes := []string{"invalid_type", "too_small", "too_big", "invalid_string", "invalid_literal", "invalid_enum_value", "custom", "unrecognized_keys"}
	f.Fuzz(func(t *testing.T, name, text string) {
		var args map[string]any
		if json.Unmarshal([]byte(text), &args) != nil {
			t.Skip()
		}
		for _, tool := range list {
			call, issues := tool.Check(args)
			require.Equal(t, len(issues) == 0, call != nil)
			for i, issue := range issues {
				require.Contains(t, codes, issue.Code)
				require.Equal(t, issue.Code == "unrecognized_keys", issue.Path == "", issue)
				top, _, _ := strings.Cut(issue.Path, ".")
				require.Contains(t, string(tool.InputSchema)+`"path""cmd"""`, `"`+top+`"`, issue)
				require.True(t, i == 0 || issues[i-1].Path < issue.Path ||
					issues[i-1].Path == issue.Path && issues[i-1].Code < issue.Code, "unsorted: %v", issues)
			}
		}
	})
}
