package mcpserver

import "mcp-pruner/states"

// clientInfoKey is where a request of protocol 2026-07-28 or later carries what
// older clients say once in initialize.
const (
	clientInfoKey      = "io.modelcontextprotocol/clientInfo"
	protocolVersionKey = "io.modelcontextprotocol/protocolVersion"
	serverInfoKey      = "io.modelcontextprotocol/serverInfo"
)

// checkInitialize checks the params of initialize.
func checkInitialize(params any) (object map[string]any, issues []states.Issue) {
	object, ok := params.(map[string]any)
	if !ok {
		return nil, []states.Issue{states.NewIssue("", "invalid_type")}
	}
	want := func(ok bool, path string) {
		if !ok {
			issues = append(issues, states.NewIssue(path, "invalid_type"))
		}
	}
	_, ok = object["protocolVersion"].(string)
	want(ok, "protocolVersion")
	if c, has := object["capabilities"]; has {
		_, ok = c.(map[string]any)
		want(ok, "capabilities")
	}
	if c, has := object["clientInfo"]; has {
		info, ok := c.(map[string]any)
		want(ok, "clientInfo")
		if ok {
			_, ok = info["name"].(string)
			want(ok, "clientInfo.name")
			_, ok = info["version"].(string)
			want(ok || info["version"] == nil, "clientInfo.version")
		}
	}
	want(isMeta(object), "_meta")
	return object, states.SortIssues(issues)
}

// isMeta says whether _meta, if there is one, is an object.
func isMeta(params map[string]any) bool {
	meta, has := params["_meta"]
	_, ok := meta.(map[string]any)
	return ok || !has
}

// checkList checks the params of tools/list. There is one page, so no cursor of
// ours exists for a client to send.
func checkList(params any) []states.Issue {
	object, ok := params.(map[string]any)
	if !ok {
		if params == nil {
			return nil
		}
		return []states.Issue{states.NewIssue("", "invalid_type")}
	}
	var issues []states.Issue
	if !isMeta(object) {
		issues = append(issues, states.NewIssue("_meta", "invalid_type"))
	}
	if cursor, has := object["cursor"]; has {
		code := "invalid_type"
		if _, ok := cursor.(string); ok {
			code = "custom"
		}
		issues = append(issues, states.NewIssue("cursor", code))
	}
	return states.SortIssues(issues)
}

// at walks nested objects; it is nil where one is missing.
func at(v any, keys ...string) any {
	for _, k := range keys {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[k]
	}
	return v
}
