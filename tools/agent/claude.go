package agent

import (
	"path/filepath"
	"regexp"
	"sync"
)

// Claude is Claude Code.
var Claude = Client{
	Name:      "claude",
	Title:     "Claude Code",
	Announces: "claude-code",
	Files: Files{
		Folder: Folder{Variable: "CLAUDE_CONFIG_DIR", Default: ".claude"},
		Hooks:  File{Name: "settings.json", As: StrictJSON},
		// Without the variable it is beside the folder, not in it.
		Servers:   File{Name: ".claude.json", In: &Folder{Variable: "CLAUDE_CONFIG_DIR"}, As: StrictJSON},
		Project:   ".mcp.json",
		InProject: []string{".claude/settings.json", ".claude/settings.local.json"},
		Managed:   claudeManaged,
	},
	Transcripts: Transcripts{Folder: "projects", Lines: ClaudeLines},
	Results: Results{
		Limits: map[string]Limit{
			"read": {Lines: 2000, Tokens: 25_000, Bytes: 200_000},
			"bash": {Bytes: 30_000},
			"grep": {Bytes: 20_000},
		},
		Ceiling:        500_000, // with anthropic/maxResultSizeChars, which the server sends
		OnlyStructured: true,
		HidesErrorData: true,
	},
	Hooks:  &claudeHooks,
	Prefix: &claudePrefix,
	Servers: ServerList{Member: "mcpServers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"type": "stdio", "command": program, "args": []any{}, "env": env}
	}, Rules: []string{"settings.json", "settings.local.json", "remote-settings.json"}},
	RemovesServer: []string{"claude", "mcp", "remove"},
	// It reads headers from its environment only, so that the secret is in its settings, which then only their owner can read.
	Proxy: &Proxy{URL: []string{"env", "ANTHROPIC_BASE_URL"}, HeaderLines: []string{"env", "ANTHROPIC_CUSTOM_HEADERS"},
		Start: []string{"SessionStart", "UserPromptSubmit"},
		// With a subscription it sends small requests of its own, such as for titles, to the large model at another address.
		Also: &Beside{Path: []string{"env", "ANTHROPIC_DEFAULT_HAIKU_MODEL"}, Value: "claude-haiku-4-5-20251001", Unless: "ANTHROPIC_SMALL_FAST_MODEL"},
		Note: "With another address for its API Claude Code has no tool Artifact in interactive sessions."},
	Base: &Base{Variable: "ANTHROPIC_BASE_URL", Address: "https://api.anthropic.com", Others: []Other{
		{"CLAUDE_CODE_USE_BEDROCK", "Amazon Bedrock"}, {"CLAUDE_CODE_USE_MANTLE", "Amazon Bedrock"}, {"CLAUDE_CODE_USE_ANTHROPIC_AWS", "Claude on AWS"},
		{"CLAUDE_CODE_USE_VERTEX", "Google Vertex AI"}, {"CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "Claude on Google Cloud"},
		{"CLAUDE_CODE_USE_FOUNDRY", "Microsoft Foundry"}, {"CLAUDE_CODE_USE_GATEWAY", "a gateway"}, {"ANTHROPIC_UNIX_SOCKET", "a Unix socket"},
	}},
	Rule: &Rule{
		Path: []string{"permissions", "allow"}, List: true, Asks: "Claude Code asks",
		Line:    func(program string) string { return "Bash(" + program + " recover:*)" },
		Pattern: regexp.MustCompile(`^Bash\((.*mcp-pruner(?:\.exe)?) recover(?::\*| \*)\)$`),
	},
	// Earlier versions have it in a tag.
	Workplace: &Workplace{Told: true, Line: sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?m)^(?:# Environment\n.*\n - |<env>\n)(?:Primary w|W)orking directory: (.+)$`)
	})},
	SearchesTools:   true,
	ProjectVariable: "CLAUDE_PROJECT_DIR",
	StatusLine:      []string{"statusLine"},
	SessionVariable: "CLAUDE_CODE_SESSION_ID",
	Secrets:         []string{"ANTHROPIC_", "CLAUDE_CODE_"},
	Definitions:     claudeDefinitions,
}

func claudeManaged(system string, get func(string) string) (paths []string) {
	const name = "managed-settings.json"
	if system != "windows" {
		return []string{"/etc/claude-code/" + name, "/Library/Application Support/ClaudeCode/" + name}
	}
	for _, folder := range [][2]string{{"ProgramFiles", `C:\Program Files`}, {"ProgramW6432", `C:\Program Files`}, {"ProgramData", `C:\ProgramData`}} {
		at := get(folder[0])
		if at == "" {
			at = folder[1]
		}
		paths = append(paths, filepath.Join(at, "ClaudeCode", name))
	}
	return paths
}

// GitBash is the variable in which users of Claude Code on Windows name the bash of Git.
const GitBash = "CLAUDE_CODE_GIT_BASH_PATH"
