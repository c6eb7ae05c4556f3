package agent

import _ "embed"

//go:embed opencode.js
var opencodePlugin string

// opencodeHooks: our plugin sends the data of a call, and replaces the result by the output of the answer. The plugin that
// "mcp-pruner gc settings --for opencode" prints sends the messages of the next request.
var opencodeHooks = Hooks{
	Plugin: opencodePlugin,
	Others: []string{"webfetch", "websearch", "codesearch", "task", "skill", "lsp", "mcp__*"},
	Read:   readOpencode,
	Tell:   func(text string) any { return map[string]any{"message": text} },
	Answer: func(_ Message, _ string, r Replacement) any { return map[string]any{"output": r.Text} },
}

func readOpencode(m Message, kind func(string) string) (Call, Occasion) {
	c := Call{
		Session: m.Text("sessionID"), Folder: m.Text("directory"), ID: m.Text("callID"), Tool: m.Text("tool"), Args: m.Child("args"),
		Text: m.Text("output"), Prompt: m.Text("prompt"), Messages: m["messages"],
	}
	if _, told := m["exit"].(float64); told && kind(c.Tool) == "bash" {
		exit := m.Integer("exit") // opencode shows its model no status
		c.Exit = &exit
	}
	c.Said, c.Ran = m.texts("said"), m.texts("ran")
	switch {
	case c.Text != "":
		return c, ToolEnded
	case m.Text("event") == "idle":
		return c, TurnEnded
	case m.Text("event") == "messages":
		return c, NextRequest
	}
	return c, Unconcerned
}
