package agent

import (
	"encoding/json"
	"path"
)

// Copilot is the GitHub Copilot CLI. docs/clients/copilot.md has what was measured.
var Copilot = Client{
	Name:      "copilot",
	Title:     "GitHub Copilot CLI",
	Announces: "copilot-cli",
	Files: Files{
		Folder:  Folder{Variable: "COPILOT_HOME", Default: ".copilot"},
		Hooks:   File{Name: "hooks/mcp-pruner.json", As: StrictJSON},
		Servers: File{Name: "mcp-config.json", As: StrictJSON},
	},
	Transcripts: Transcripts{
		Folder: "session-state", Head: copilotHead, Steps: copilotSteps,
		Of: func(session string) string { return path.Join(session, "events.jsonl") },
	},
	// Results above 20 KiB it writes to a file, and shows 500 characters of them.
	Results: Results{
		Limits:         map[string]Limit{AnyTool: {Bytes: 19_000}},
		HidesErrorData: true,
	},
	Shells: Shells{Hooks: PowerShell, Tools: PowerShell},
	Hooks:  &copilotHooks,
	Servers: ServerList{Member: "mcpServers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"type": "local", "command": program, "args": []any{}, "tools": []any{"*"}, "env": env}
	}},
	Base:    &Base{Variable: "COPILOT_PROVIDER_BASE_URL"},
	Secrets: []string{"COPILOT_", "GH_TOKEN", "GITHUB_TOKEN"},
}

// copilotHooks: a postToolUse hook replaces a result by modifiedResult, that of a command that failed too.
var copilotHooks = Hooks{
	Events: []Event{{Name: "postToolUse", Matcher: "bash|powershell|view|grep|.*-.*", Timeout: 5}},
	Read:   readCopilot,
	Answer: func(m Message, _ string, r Replacement) any {
		return map[string]any{"modifiedResult": with(m.Child("toolResult"), map[string]any{"textResultForLlm": r.Text})}
	},
}

func readCopilot(m Message, kind func(string) string) (Call, Occasion) {
	result := m.Child("toolResult")
	c := Call{
		Session: m.Text("sessionId"), Folder: m.Text("cwd"), Agent: m.Text("agentId"),
		Tool: m.Text("toolName"), Args: m.Child("toolArgs"), Text: result.Text("textResultForLlm"),
	}
	if c.Text == "" || result.Text("resultType") != "success" {
		return c, Unconcerned
	}
	return c, ToolEnded
}

// copilotEvent is a line of a session's events.
type copilotEvent struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      struct {
		SessionID      string               `json:"sessionId"`
		CopilotVersion string               `json:"copilotVersion"`
		StartTime      string               `json:"startTime"`
		Context        struct{ Cwd string } `json:"context"`

		Content      string `json:"content"` // of a message
		Model        string `json:"model"`
		ToolRequests []struct {
			ToolCallID string         `json:"toolCallId"`
			Name       string         `json:"name"`
			Arguments  map[string]any `json:"arguments"`
		} `json:"toolRequests"`

		ToolCallID string                   `json:"toolCallId"` // of a result
		Success    bool                     `json:"success"`
		Result     struct{ Content string } `json:"result"`
		Error      struct{ Message string } `json:"error"`

		Usage *struct {
			Model            string `json:"model"`
			InputTokens      int    `json:"inputTokens"`
			OutputTokens     int    `json:"outputTokens"`
			CacheReadTokens  int    `json:"cacheReadTokens"`
			CacheWriteTokens int    `json:"cacheWriteTokens"`
		} `json:"usage"`
	} `json:"data"`
}

func copilotHead(line []byte) (Head, bool) {
	var e copilotEvent
	if json.Unmarshal(line, &e) != nil || e.Type != "session.start" || e.Data.CopilotVersion == "" {
		return Head{}, false
	}
	return Head{ID: e.Data.SessionID, Project: e.Data.Context.Cwd, Version: e.Data.CopilotVersion, Begun: e.Data.StartTime}, true
}

// copilotSteps: the usage of a model call stands in a line before its message.
func copilotSteps(line []byte) []Step {
	var e copilotEvent
	if json.Unmarshal(line, &e) != nil {
		return nil
	}
	switch e.Type {
	case "user.message":
		return []Step{{Kind: User, Text: e.Data.Content}}
	case "session.usage_record":
		if u := e.Data.Usage; u != nil {
			usage := Usage{Input: max(u.InputTokens-u.CacheReadTokens-u.CacheWriteTokens, 0), CacheRead: u.CacheReadTokens, CacheWrite: u.CacheWriteTokens, Output: u.OutputTokens}
			return []Step{{Kind: Turn, Model: u.Model, Usage: &usage, Stamp: e.Timestamp}}
		}
	case "assistant.message":
		steps := []Step{{Kind: Say, Text: e.Data.Content}}
		for _, r := range e.Data.ToolRequests {
			steps = append(steps, Step{Kind: Use, ID: r.ToolCallID, Tool: r.Name, Args: r.Arguments})
		}
		return steps
	case "tool.execution_complete":
		out := e.Data.Result.Content
		if !e.Data.Success && out == "" {
			out = e.Data.Error.Message
		}
		return []Step{{Kind: Result, ID: e.Data.ToolCallID, Out: out, Err: !e.Data.Success}}
	case "session.compaction_complete":
		return []Step{{Kind: Compact}}
	}
	return nil
}
