package mcpserver

import (
	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/states"
)

// clientInfoKey is where a request of protocol 2026-07-28 or later carries what
// older clients say once in initialize.
const (
	clientInfoKey      = "io.modelcontextprotocol/clientInfo"
	protocolVersionKey = "io.modelcontextprotocol/protocolVersion"
	serverInfoKey      = "io.modelcontextprotocol/serverInfo"
	capabilitiesKey    = "io.modelcontextprotocol/clientCapabilities"
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
			version, has := info["version"]
			_, ok = version.(string)
			want(ok || !has, "clientInfo.version")
		}
	}
	return object, states.SortIssues(append(issues, checkMeta(object)...))
}

// checkPlain checks the params of a request that needs none.
func checkPlain(params any) []states.Issue {
	if params == nil {
		return nil
	}
	object, ok := params.(map[string]any)
	if !ok {
		return []states.Issue{states.NewIssue("", "invalid_type")}
	}
	return checkMeta(object)
}

// checkMeta checks what protocol 2026-07-28 and later wants in _meta.
func checkMeta(params map[string]any) []states.Issue {
	meta, has := params["_meta"]
	object, ok := meta.(map[string]any)
	if !ok && has {
		return []states.Issue{states.NewIssue("_meta", "invalid_type")}
	}
	version, _ := object[protocolVersionKey].(string)
	if _, ok := object[capabilitiesKey].(map[string]any); mcp.IsModernProtocol(version) && !ok {
		return []states.Issue{states.NewIssue("_meta."+capabilitiesKey, "invalid_type")}
	}
	return nil
}

// checkList checks the params of tools/list. There is one page, so no cursor of
// ours exists for a client to send.
func checkList(params any) []states.Issue {
	issues := checkPlain(params)
	if cursor, has := asObject(params)["cursor"]; has {
		code := "invalid_type"
		if _, ok := cursor.(string); ok {
			code = "custom"
		}
		issues = append(issues, states.NewIssue("cursor", code))
	}
	return states.SortIssues(issues)
}

func asObject(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
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
