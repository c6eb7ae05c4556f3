package agent

// The editors below are GUI applications, which are not run here: what is known of them is from their documentation. Only their
// lists of MCP servers are written.

// Cursor is Cursor.
var Cursor = Client{
	Name:  "cursor",
	Title: "Cursor",
	Files: Files{
		Folder:  Folder{Default: ".cursor"},
		Servers: File{Name: "mcp.json", As: JSONC},
	},
	Servers: ServerList{Member: "mcpServers", Entry: commandEntry},
}

// VSCode is Visual Studio Code.
var VSCode = Client{
	Name:  "vscode",
	Title: "VS Code",
	Files: Files{
		Folder: Folder{Default: ".config/Code/User", On: map[string]string{
			"darwin": "Library/Application Support/Code/User", "windows": "AppData/Roaming/Code/User",
		}},
		Servers: File{Name: "mcp.json", As: JSONC},
	},
	Servers: ServerList{Member: "servers", Entry: func(program string, env map[string]any) map[string]any {
		return map[string]any{"type": "stdio", "command": program, "env": env}
	}},
}

// Zed is Zed.
var Zed = Client{
	Name:  "zed",
	Title: "Zed",
	Files: Files{
		Folder:  Folder{Default: ".config/zed", On: map[string]string{"windows": "AppData/Roaming/Zed"}},
		Servers: File{Name: "settings.json", As: JSONC},
	},
	Servers: ServerList{Member: "context_servers", Entry: commandEntry},
}

// JetBrains is Junie, the agent of the JetBrains IDEs.
var JetBrains = Client{
	Name:  "jetbrains",
	Title: "JetBrains Junie",
	Files: Files{
		Folder:  Folder{Default: ".junie"},
		Servers: File{Name: "mcp/mcp.json", As: StrictJSON},
	},
	Servers: ServerList{Member: "mcpServers", Entry: commandEntry},
}

func commandEntry(program string, env map[string]any) map[string]any {
	return map[string]any{"command": program, "args": []any{}, "env": env}
}
