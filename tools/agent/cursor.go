package agent

// Cursor is Cursor.
var Cursor = Client{
	Name:  "cursor",
	Title: "Cursor",
	Files: Files{
		Folder:  Folder{Default: ".cursor"},
		Servers: File{Name: "mcp.json", As: JSONC},
	},
}
