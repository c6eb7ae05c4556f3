package agent

import (
	"regexp"
	"strconv"
	"sync"
)

// Codex is the Codex CLI.
var Codex = Client{
	Name:      "codex",
	Title:     "Codex",
	Announces: "codex-mcp-client",
	Files: Files{
		Folder:  Folder{Variable: "CODEX_HOME", Default: ".codex"},
		Hooks:   File{Name: "hooks.json", As: HooksJSON},
		Servers: File{Name: codexConfig, As: TOML},
		Managed: codexManaged,
	},
	Transcripts: Transcripts{Folder: "sessions", Lines: CodexLines},
	Results: Results{
		Limits: map[string]Limit{AnyTool: {Tokens: 10_000, Bytes: 36_000}},
		// Of models that it does not know, such as those of another provider, it shows 12,000 bytes, our notice included.
		OtherModels:    Limit{Bytes: 8_000},
		ModelPrefix:    "gpt-",
		Ceiling:        48_000, // 40,000 in code mode, 12,000 for models that Codex does not know
		OnlyStructured: true,
		HidesErrorData: true,
	},
	Shells:        Shells{Hooks: CMD, Tools: PowerShell},
	LoginShell:    true,
	Hooks:         &codexHooks,
	Prefix:        &codexPrefix,
	ModelList:     []string{"debug", "models"},
	UsedModel:     codexUses,
	Servers:       ServerList{Member: "mcp_servers"},
	RemovesServer: []string{"codex", "mcp", "remove"},
	Base:          &Base{Address: "https://api.openai.com/v1"},
	Proxy: &Proxy{In: InServers, URL: []string{"openai_base_url"}, Suffix: "/v1",
		Start: []string{"SessionStart", "UserPromptSubmit"},
		Note:  "While no proxy answers there, Codex says \"Reconnecting...\" and waits."},
	Rule: &Rule{
		In: InOwnFile, Own: "rules/mcp-pruner.rules",
		Asks: "Codex runs it in its sandbox without asking, but with approval_policy \"untrusted\" it asks",
		Line: func(program string) string {
			return "# Written by mcp-pruner init: Codex may run this command without asking.\n" +
				"prefix_rule(pattern = [" + strconv.Quote(program) + `, "recover"], decision = "allow")` + "\n"
		},
		Pattern: regexp.MustCompile(`(?m)^prefix_rule\(pattern = \["([^"\\]*mcp-pruner(?:\.exe)?)", "recover"\], decision = "allow"\)`),
	},
	Workplace:       &Workplace{Line: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<environment_context>\n\s*<cwd>([^<\n]+)</cwd>`) })},
	SearchesTools:   true,
	ModelIn:         "x-codex-turn-metadata",
	SessionVariable: "CODEX_SESSION_ID",
	Secrets:         []string{"CODEX_", "OPENAI_API_KEY"},
	Definitions:     codexDefinitions,
}

// codexManaged returns the files that win over the user's and over the command line.
func codexManaged(system string, get func(string) string) []string {
	const config, rules = "managed_config.toml", "requirements.toml"
	if system != "windows" {
		return []string{"/etc/codex/" + config, "/etc/codex/" + rules}
	}
	return []string{get("USERPROFILE") + `\.codex\` + config, get("ProgramData") + `\OpenAI\Codex\` + rules}
}
