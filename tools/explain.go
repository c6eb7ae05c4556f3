package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

// Explain describes the issues of a call's arguments in words for a model: the wrong
// argument and the right one.
func Explain(t Tool, args map[string]any, issues []Issue) string {
	var listed argumentSchema
	if json.Unmarshal(t.InputSchema, &listed) != nil {
		return ""
	}
	var said []string
	for _, i := range issues {
		name, _, _ := strings.Cut(i.Path, ".")
		switch {
		case i.Code == schema.Unrecognized && i.Path == "":
			said = append(said, listed.unknown(t.Name, args)...)
		case slices.Contains(listed.Required, name) && args[name] == nil:
			said = append(said, name+" is required")
		default:
			said = append(said, listed.Properties[name].explain(t, i, args))
		}
	}
	slices.Sort(said)
	return strings.Join(slices.Compact(said), "; ")
}

// argumentSchema is the part of a tool's input schema that Explain uses.
type argumentSchema struct {
	Properties map[string]property
	Required   []string
}

type property struct {
	Type             any
	Minimum, Maximum *int64
	Enum             []any
}

func (p property) explain(t Tool, i Issue, args map[string]any) string {
	text, _ := args[i.Path].(string)
	switch {
	case i.Code == schema.InvalidType && p.Type != nil:
		return fmt.Sprintf("%s wants %s %v", i.Path, article(p.Type), p.Type)
	case i.Code == schema.TooSmall && p.Minimum != nil:
		return fmt.Sprintf("%s is at least %d", i.Path, *p.Minimum)
	case i.Code == schema.TooSmall:
		return i.Path + " must not be empty"
	case i.Code == schema.TooBig && p.Maximum != nil:
		return fmt.Sprintf("%s is at most %d", i.Path, *p.Maximum)
	case i.Code == schema.TooBig:
		return i.Path + " is too long"
	case (i.Code == schema.InvalidEnum || i.Code == schema.InvalidLiteral) && len(p.Enum) > 0:
		return fmt.Sprintf("%s is one of %v", i.Path, p.Enum)
	case i.Code == schema.Custom && strings.ContainsRune(text, 0):
		return i.Path + " must not contain NUL"
	case i.Code == schema.Custom && i.Path == "start_line":
		return "start_line is after end_line"
	case i.Code == schema.Custom && i.Path == "path" && args["paths"] != nil:
		return "give path or paths, not both"
	case i.Code == schema.Custom && t.Root != "":
		return fmt.Sprintf("%s is outside the root %s: only what is below it can be reached", i.Path, t.Root)
	}
	return fmt.Sprintf("%s is not valid (%s)", i.Path, i.Code)
}

func article(of any) string {
	if kind, _ := of.(string); strings.HasPrefix(kind, "i") || strings.HasPrefix(kind, "a") || strings.HasPrefix(kind, "o") {
		return "an"
	}
	return "a"
}

// unknown lists arguments that the tool does not have, each with the argument that was
// probably meant.
func (s argumentSchema) unknown(tool string, args map[string]any) (said []string) {
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if _, known := s.Properties[name]; known {
			continue
		}
		text := fmt.Sprintf("%s has no argument %s", tool, files.Quoted(name))
		if meant := s.meant(name); meant != "" {
			text += ": use " + meant
		} else {
			text += ", only " + strings.Join(slices.Sorted(maps.Keys(s.Properties)), ", ")
		}
		said = append(said, text)
	}
	return said
}

// otherNames maps names that clients' own tools and others use for arguments to the names
// used here, most likely first.
var otherNames = map[string][]string{
	"offset": {"start_line"}, "start": {"start_line"}, "line": {"start_line"}, "from": {"start_line"}, "line_start": {"start_line"}, "view_range": {"start_line and end_line"},
	"limit": {"end_line", "max_matches"}, "end": {"end_line"}, "to": {"end_line"}, "line_end": {"end_line"}, "lines": {"end_line"},
	"path": {"file_path"}, "file": {"file_path", "path"}, "filename": {"file_path", "path"}, "filepath": {"file_path", "path"},
	"uri": {"file_path"}, "absolute_path": {"file_path"},
	"cmd": {"command"}, "script": {"command"}, "timeout": {"timeout_ms"}, "timeout_seconds": {"timeout_ms"},
	"workdir": {"cwd"}, "directory": {"cwd", "path"}, "dir": {"cwd", "path"}, "dir_path": {"cwd", "path"}, "working_directory": {"cwd"},
	"query": {"pattern"}, "regex": {"pattern"}, "search": {"pattern"}, "include": {"glob"}, "type": {"glob"}, "file_pattern": {"glob"},
	"head_limit": {"max_matches"}, "max_results": {"max_matches"}, "max_count": {"max_matches"}, "-i": {"case_sensitive"},
	"ignore_case": {"case_sensitive"}, "case_insensitive": {"case_sensitive"},
	"context": {"context_lines"}, "-A": {"context_lines"}, "-B": {"context_lines"}, "-C": {"context_lines"}, "mode": {"output_mode"}, "literal": {"fixed_string"},
	"question": {"context_focus_question"}, "focus": {"context_focus_question"}, "focus_question": {"context_focus_question"},
	"max_bytes": {"max_output_bytes"}, "max_output_tokens": {"max_output_bytes"}, "yield_time_ms": {"timeout_ms"},
}

func (s argumentSchema) meant(name string) string {
	for _, other := range otherNames[name] {
		first, _, _ := strings.Cut(other, " ")
		if _, known := s.Properties[first]; known {
			return other
		}
	}
	plain := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	for _, known := range slices.Sorted(maps.Keys(s.Properties)) {
		if plain(known) == plain(name) {
			return known
		}
	}
	return ""
}
