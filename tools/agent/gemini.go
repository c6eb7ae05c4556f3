package agent

import (
	"regexp"
	"strconv"
	"sync"
)

// Gemini is the Gemini CLI.
var Gemini = Client{
	Name:      "gemini",
	Title:     "Gemini CLI",
	Announces: "gemini-cli-mcp-client",
	Files: Files{
		Folder:  Folder{Variable: "GEMINI_CLI_HOME", Below: ".gemini"},
		Hooks:   File{Name: "settings.json", As: CommentedJSON},
		Servers: File{Name: "settings.json", As: CommentedJSON},
		Managed: func(string, func(string) string) []string {
			return []string{"/etc/gemini-cli/settings.json", "/Library/Application Support/GeminiCli/settings.json"}
		},
	},
	Results: Results{
		Limits: map[string]Limit{
			"read":  {Lines: 2000, Bytes: 39_000},
			"grep":  {Lines: 100, Bytes: 39_000},
			AnyTool: {Bytes: 39_000},
		},
		HidesErrorData: true,
	},
	Shells: Shells{Hooks: PowerShell, Tools: PowerShell},
	Workplace: &Workplace{Line: sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:<session_context>\n)?This is the Gemini CLI\. We are setting up the context for our chat\.(?:\n.*){0,6}?\n` +
			`(?:- \*\*Workspace Directories:\*\*\n  - |I'm currently working in the directory: )(.+)`)
	})},
	Hooks:  &geminiHooks,
	Prefix: &geminiPrefix,
	Servers: ServerList{Member: "mcpServers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"command": program, "env": env}
	}},
	Base: &Base{Variable: "GOOGLE_GEMINI_BASE_URL", Address: "https://generativelanguage.googleapis.com", Others: []Other{
		{"GOOGLE_GENAI_USE_VERTEXAI", "Google Vertex AI"}, {"GOOGLE_GENAI_USE_GCA", "Gemini Code Assist"},
	}},
	Rule: &Rule{
		In: InOwnFile, Own: "policies/mcp-pruner.toml", Asks: "Gemini CLI asks",
		Line: func(program string) string {
			return "# Written by mcp-pruner init: Gemini CLI may run this command without asking.\n" +
				"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = " + strconv.Quote(program+" recover") + "\ndecision = \"allow\"\npriority = 100\n"
		},
		Pattern: regexp.MustCompile(`(?m)^commandPrefix = "([^"\\]*mcp-pruner(?:\.exe)?) recover"`),
	},
	ProjectVariable: "GEMINI_PROJECT_DIR",
	Definitions:     geminiDefinitions,
}

// geminiHooks: an AfterTool hook that denies replaces the result, but the model sees an error.
var geminiHooks = Hooks{
	Events:   []Event{{Name: "AfterTool", Matcher: "read_file|run_shell_command|search_file_content|grep_search", Timeout: 5000}},
	AsErrors: true, StatusReplaces: true,
	Read: readGemini,
	Answer: func(_ Message, _ string, r Replacement) any {
		return map[string]any{"decision": "deny", "reason": r.Text}
	},
}

func readGemini(m Message, _ func(string) string) (Call, Occasion) {
	response := m.Child("tool_response")
	c := Call{
		Session: m.Text("session_id"), Folder: m.Text("cwd"), Tool: m.Text("tool_name"), Args: m.Child("tool_input"), Text: response.Text("llmContent"),
	}
	if m.Text("hook_event_name") != "AfterTool" || response["error"] != nil || c.Text == "" {
		return c, Unconcerned
	}
	return c, ToolEnded
}
