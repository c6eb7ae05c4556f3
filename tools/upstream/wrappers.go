package upstream

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// WrapperLevels are the levels of mcp-compressor, from the most text to the least. It replaces
// a server's tools by two, one that returns a tool's schema and one that calls a tool; what the
// first says of each tool depends on the level. With max a third tool lists the names.
var WrapperLevels = []string{"low", "medium", "high", "max"}

// WrapperTokens returns the number of tokens of a server's tools that a model would see behind
// such wrappers, by the level's published form.
func WrapperTokens(tools []Definition, level string, tokens func(string) int) int {
	const name = `{"type":"object","properties":{"tool_name":{"type":"string","description":"Name of the tool"}},"required":["tool_name"]}`
	const call = `{"type":"object","properties":{"tool_name":{"type":"string","description":"Name of the tool"},` +
		`"tool_input":{"type":"object","description":"Arguments of the tool"}},"required":["tool_name"]}`
	var lines []string
	for i := range tools {
		lines = append(lines, wrapperLine(&tools[i], level))
	}
	about := "Returns the input schema of a tool. Call it before the tool is invoked for the first time. The tools are:\n" + strings.Join(lines, "\n")
	sum := 0
	if level == "max" {
		about = "Returns the input schema of a tool. Call it before the tool is invoked for the first time."
		sum = tokens(visible("list_tools", "Lists the names of all tools.", json.RawMessage(`{"type":"object","properties":{}}`)))
	}
	return sum + tokens(visible("get_tool_schema", about, json.RawMessage(name))) +
		tokens(visible("invoke_tool", "Calls a tool. get_tool_schema returns the schema of its input.", json.RawMessage(call)))
}

// wrapperLine describes a tool: its name, parameters, and as much of its description as the
// level keeps.
func wrapperLine(d *Definition, level string) string {
	properties, _ := d.properties()
	line := d.Name + "(" + strings.Join(slices.Sorted(maps.Keys(properties)), ", ") + ")"
	text := strings.TrimSpace(d.Description)
	switch level {
	case "high", "max":
		text = ""
	case "medium": // the first sentence of the first line
		text, _, _ = strings.Cut(text, "\n")
		text, _, _ = strings.Cut(text, ".")
	}
	if text != "" {
		line += ": " + text
	}
	return "<tool>" + line + "</tool>"
}
