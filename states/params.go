package states

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Issue is one violation in a request's params, in the form sent to the client. Path is
// dot-joined from the params object, Code is one of zod v3's issue codes, and Message
// equals Code.
type Issue struct {
	Path    string `json:"path"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NewIssue returns an issue whose message is its code, as the contract requires.
func NewIssue(path, code string) Issue { return Issue{path, code, code} }

// SortIssues returns the issues in the contract's order, without duplicates.
func SortIssues(issues []Issue) []Issue {
	slices.SortFunc(issues, func(a, b Issue) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Code, b.Code)
	})
	return slices.Compact(issues)
}

// checkParams checks the params of a tools/call, including the arguments of its tool.
// advice describes the violations in words.
func checkParams(offered []tools.Tool, params any) (call tools.Call, issues []Issue, advice string) {
	object, ok := params.(map[string]any)
	if !ok {
		return nil, []Issue{NewIssue("", "invalid_type")}, ""
	}
	tool, code := findTool(offered, object["name"])
	if code != "" {
		issues = append(issues, NewIssue("name", code))
		advice = "there is no such tool, only " + names(offered)
	}
	args, ok := object["arguments"].(map[string]any)
	if !ok {
		issues = append(issues, NewIssue("arguments", "invalid_type"))
	}
	if tool == nil || !ok {
		return nil, SortIssues(issues), advice
	}
	call, found := tool.Check(args)
	if len(found) > 0 {
		advice = tools.Explain(*tool, args, found)
	}
	for _, i := range found {
		issues = append(issues, NewIssue(argumentPath(i.Path), i.Code))
	}
	return call, SortIssues(issues), advice
}

func names(offered []tools.Tool) string {
	list := make([]string, len(offered))
	for i, t := range offered {
		list[i] = t.Name
	}
	return strings.Join(list, ", ")
}

// argumentPath returns the path of an argument from the params object; "" is the arguments
// object itself. A name may be empty or end in a dot.
func argumentPath(path string) string {
	if path == "" {
		return "arguments"
	}
	return "arguments." + path
}

func findTool(offered []tools.Tool, name any) (*tools.Tool, string) {
	s, ok := name.(string)
	if !ok {
		return nil, "invalid_type"
	}
	i := slices.IndexFunc(offered, func(t tools.Tool) bool { return t.Name == s })
	if i < 0 {
		return nil, "invalid_enum_value"
	}
	return &offered[i], ""
}

// maxLogged bounds the number of issues in one log event.
const maxLogged = 100

// FieldError is an issue in the form of the HTTP design.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// FieldErrors converts issues to the form of the HTTP design.
func FieldErrors(issues []Issue) []FieldError {
	list := make([]FieldError, len(issues))
	for i, issue := range issues {
		list[i] = FieldError{issue.Path, issue.Message}
	}
	return list
}

// forLog returns the issues for the log. Their paths are shortened: they contain names
// chosen by a client, and log lines may be kept in memory for a long time.
func forLog(issues []Issue) []Issue {
	logged := slices.Clone(issues[:min(len(issues), maxLogged)])
	for i := range logged {
		logged[i].Path = strings.Clone(cut(logged[i].Path, maxNameBytes))
	}
	return logged
}

// describe returns the violations as one line for the log.
func describe(issues []Issue) string {
	parts := make([]string, len(issues))
	for i, issue := range issues {
		parts[i] = issue.Path + ": " + issue.Code
	}
	return strings.Join(parts, "; ")
}
