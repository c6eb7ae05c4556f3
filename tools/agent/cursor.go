package agent

// Cursor is Cursor.
var Cursor = Client{Name: "cursor"}
