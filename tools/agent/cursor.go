package agent

// Cursor is Cursor.
var Cursor = Client{
	Name:  "cursor",
	Title: "Cursor",
	Files: Files{
		Folder:  Folder{Default: ".cursor"},
		Servers: File{Name: "mcp.json", As: JSONC},
	},
	Servers: ServerList{Member: "mcpServers", URLIsHTTP: true},
	Restrictions: Restrictions{
		Settings: []Setting{{[]string{"permissions", "deny"}, Refuses}, {[]string{"permissions", "allow"}, Allows}},
		Files:    []string{"cli-config.json", "hooks.json"},
	},
}
