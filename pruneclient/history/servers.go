package history

import (
	"maps"
	"slices"
	"strings"
)

// The tools of ours that return a text by its id.
const (
	ReadTool    = "read"         // what hooks and the proxy of this machine left out
	GetTool     = "context_get"  // what the proxy left out
	RecoverTool = "recover_text" // what the proxy of a team left out
)

// allTools is the item of [OtherTools] that stands for every tool.
const allTools = "all"

// OtherTools names the tools of kind [Other] whose results may be pruned. An item is a tool by the client's name
// for it, the name of an MCP server, or "all". Without items the results of other tools stay whole: no
// measurement has shown yet that pruning them saves more than it loses.
type OtherTools []string

// Includes reports whether a tool, or the server that it belongs to, is named.
func (o OtherTools) Includes(tool string) bool {
	return slices.ContainsFunc(o, func(item string) bool {
		return item == allTools || strings.EqualFold(item, tool) || ofServer(tool, item)
	})
}

// ofServer reports whether a client's name for a tool says that it belongs to a server: mcp__SERVER__tool in
// Claude Code and Codex, mcp_SERVER_tool in Gemini CLI, SERVER_tool in
// opencode, SERVER__tool in Cline, SERVER-tool in Copilot CLI.
func ofServer(tool, server string) bool {
	tool, server = strings.ToLower(tool), strings.ToLower(server)
	for _, prefix := range []string{"mcp__" + server + "__", "mcp_" + server + "_", server + "_", server + "-"} {
		if strings.HasPrefix(tool, prefix) {
			return true
		}
	}
	return false
}

// ofOwnServer reports whether a tool belongs to this program's server, which prunes its results itself and whose
// answers bring back what was pruned. init and run call the server pruner; others may have another word before or
// after that.
func ofOwnServer(tool string) bool {
	if name, ok := strings.CutPrefix(strings.ToLower(tool), "mcp__"); ok {
		server, _, _ := strings.Cut(name, "__")
		return strings.Contains(server, "pruner")
	}
	return ofServer(tool, "pruner") || ofServer(tool, "mcp-pruner")
}

var idArguments = map[string]string{ReadTool: "file_path", GetTool: "segment_id", RecoverTool: "prune_id"}

// TakesID reports whether one of our tools has an argument of that name for an id.
func TakesID(argument string) bool {
	return slices.Contains(slices.Collect(maps.Values(idArguments)), argument)
}
