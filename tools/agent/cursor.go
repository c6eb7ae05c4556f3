package agent

// Cursor is Cursor.
var Cursor = Client{
	Name:  "cursor",
	Title: "Cursor",
	Files: Files{
		Folder:  Folder{Default: ".cursor"},
		Servers: File{Name: "mcp.json", As: JSONC},
		Rules:   []string{"cli-config.json", "hooks.json"},
	},
	Servers: ServerList{Member: "mcpServers", URLIsHTTP: true},
}
