// Package agent describes the clients of mcp-pruner: coding agents such as Claude Code and Codex. Each client is one value
// with all that is known of it, in a file of its own; what differs between clients is asked here and nowhere else. For the
// sources see docs/decisions and docs/clients.
package agent

import "slices"

// Client is what is known of one client.
type Client struct {
	// Name is the client's name in commands and settings, such as "claude".
	Name string

	// Announces is the name that it gives as clientInfo.name; "" if it is not known.
	Announces string

	Results Results
}

// Clients are the known clients. Nothing but a test changes it.
var Clients = []*Client{&Claude, &Codex, &Gemini, &Opencode, &Cursor}

// unknown stands for all other clients.
var unknown = Client{}

// Announced returns the client that gives a name as clientInfo.name. For a name that no client gives it returns a client
// without a name, of which nothing is known.
func Announced(name string) *Client {
	at := slices.IndexFunc(Clients, func(c *Client) bool { return name != "" && c.Announces == name })
	if at < 0 {
		return &unknown
	}
	return Clients[at]
}
