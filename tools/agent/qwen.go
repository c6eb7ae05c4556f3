package agent

import (
	"encoding/json"
	"strings"
)

// Qwen is Qwen Code, which began as a copy of the Gemini CLI. docs/clients/qwen-code.md has what was measured.
var Qwen = Client{
	Name:      "qwen",
	Title:     "Qwen Code",
	Announces: "qwen-cli-mcp-client-",
	Files: Files{
		Folder:  Folder{Variable: "QWEN_HOME", Default: ".qwen"},
		Hooks:   File{Name: "settings.json", As: CommentedJSON},
		Servers: File{Name: "settings.json", As: CommentedJSON},
		Managed: func(string, func(string) string) []string {
			return []string{"/etc/qwen-code/settings.json", "/Library/Application Support/QwenCode/settings.json"}
		},
	},
	Transcripts: Transcripts{Folder: "projects", Head: qwenHead, Steps: qwenSteps},
	// Results above 30,000 characters it writes to a file, and shows 2 kB of them.
	Results: Results{
		Limits:         map[string]Limit{AnyTool: {Bytes: 28_000}},
		HidesErrorData: true,
	},
	Shells:          Shells{Hooks: PowerShell, Tools: PowerShell},
	Hooks:           &qwenHooks,
	Prefix:          &qwenPrefix,
	Servers:         Gemini.Servers,
	Base:            &Base{Variable: "OPENAI_BASE_URL"},
	SearchesTools:   true,
	ProjectVariable: "QWEN_PROJECT_DIR",
	Secrets:         []string{"QWEN_", "OPENAI_API_KEY", "DASHSCOPE_API_KEY"},
}

// QwenReads is Qwen Code's tool that reads files. The offset that it is given counts lines from 0, as measured with
// 0.24.4.
const QwenReads = "read_file"

// qwenHooks: a PostToolUse hook that stops the call replaces its result by the reason, and the session goes on. Its user reads
// that the tool was not run. A hook of a failed command can add a text.
var qwenHooks = Hooks{
	Events:   []Event{{Name: "PostToolUse", Matcher: "read_file|run_shell_command|grep_search|mcp__.*", Timeout: 5000}},
	AsErrors: true,
	Read:     readQwen,
	Answer: func(_ Message, _ string, r Replacement) any {
		return map[string]any{"continue": false, "stopReason": r.Text}
	},
}

func readQwen(m Message, _ func(string) string) (Call, Occasion) {
	c := Call{
		Session: m.Text("session_id"), Folder: m.Text("cwd"), Transcript: m.Text("transcript_path"), ID: m.Text("tool_call_id"),
		Tool: m.Text("tool_name"), Args: m.Child("tool_input"), Text: qwenText(m.Child("tool_response")["llmContent"]),
	}
	if m.Text("hook_event_name") != "PostToolUse" || c.Text == "" || strings.HasPrefix(c.Text, qwenStored) {
		return c, Unconcerned
	}
	return c, ToolEnded
}

// qwenStored begins what Qwen Code shows of a long result, which it has written to a file.
const qwenStored = "Tool output was too large and has been truncated."

// qwenText returns the text of a result that is a text, or a list of one.
func qwenText(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	parts, _ := content.([]any)
	if len(parts) != 1 {
		return ""
	}
	part, _ := parts[0].(map[string]any)
	return Message(part).Text("text")
}

type qwenLine struct {
	SessionID string `json:"sessionId"`
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	Cwd       string `json:"cwd"`
	Version   string `json:"version"`
	Model     string `json:"model"`
	Message   struct {
		Role  string `json:"role"`
		Parts []struct {
			Text         string `json:"text"`
			Thought      bool   `json:"thought"`
			FunctionCall *struct {
				ID   string         `json:"id"`
				Name string         `json:"name"`
				Args map[string]any `json:"args"`
			} `json:"functionCall"`
			FunctionResponse *struct {
				ID       string `json:"id"`
				Name     string `json:"name"`
				Response struct {
					Output string `json:"output"`
					Error  string `json:"error"`
				} `json:"response"`
			} `json:"functionResponse"`
		} `json:"parts"`
	} `json:"message"`
	Usage *struct {
		Prompt     int `json:"promptTokenCount"`
		Candidates int `json:"candidatesTokenCount"`
		Thoughts   int `json:"thoughtsTokenCount"`
		Cached     int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
}

// qwenHead: each line has the members of a head, and the message's parts set it apart from the lines of Claude Code.
func qwenHead(line []byte) (Head, bool) {
	var l qwenLine
	if json.Unmarshal(line, &l) != nil || l.Type != "user" || len(l.Message.Parts) == 0 || l.Message.Parts[0].FunctionResponse != nil {
		return Head{}, false
	}
	return Head{ID: l.SessionID, Project: l.Cwd, Version: l.Version, Begun: l.Timestamp}, true
}

func qwenSteps(line []byte) (steps []Step) {
	var l qwenLine
	if json.Unmarshal(line, &l) != nil {
		return nil
	}
	switch {
	case l.Type == "system" && l.Subtype == "chat_compression":
		return []Step{{Kind: Compact}}
	case l.Type == "assistant":
		turn := Step{Kind: Turn, Model: l.Model, Stamp: l.Timestamp}
		if u := l.Usage; u != nil {
			turn.Usage = &Usage{Input: max(u.Prompt-u.Cached, 0), CacheRead: u.Cached, Output: u.Candidates + u.Thoughts}
		}
		steps = append(steps, turn)
	}
	for _, p := range l.Message.Parts {
		switch {
		case p.FunctionCall != nil:
			steps = append(steps, Step{Kind: Use, ID: p.FunctionCall.ID, Tool: p.FunctionCall.Name, Args: p.FunctionCall.Args})
		case p.FunctionResponse != nil:
			out := p.FunctionResponse.Response
			steps = append(steps, Step{Kind: Result, ID: p.FunctionResponse.ID, Tool: p.FunctionResponse.Name, Out: out.Output + out.Error, Err: out.Error != ""})
		case l.Type == "user":
			steps = append(steps, Step{Kind: User, Text: p.Text})
		case p.Thought:
			steps = append(steps, Step{Kind: Say, Think: p.Text})
		case p.Text != "":
			steps = append(steps, Step{Kind: Say, Text: p.Text})
		}
	}
	return steps
}
