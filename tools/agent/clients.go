package agent

import (
	"slices"
	"strings"
)

// Clients are the known clients. Nothing but a test changes it.
var Clients = []*Client{&Claude, &Codex, &Gemini, &Opencode, &Copilot, &Qwen, &Cline, &Kilo, &Pi, &Cursor, &VSCode, &Zed, &JetBrains}

// unknown stands for all other clients.
var unknown = Client{}

// Announced returns the client that gives a name as clientInfo.name. For a name that no client gives it returns a client
// without a name, of which nothing is known.
func Announced(name string) *Client {
	return find(func(c *Client) bool {
		return c.Announces != "" && (name == c.Announces || strings.HasSuffix(c.Announces, "-") && strings.HasPrefix(name, c.Announces))
	})
}

// Named returns the client with a name as in commands, or its title in one word ("claude-code"), in capitals or not; or one of which
// nothing is known.
func Named(name string) *Client {
	word := func(title string) string { return strings.ReplaceAll(title, " ", "-") }
	return find(func(c *Client) bool {
		return name != "" && (strings.EqualFold(c.Name, name) || strings.EqualFold(word(c.Title), word(name)))
	})
}

// Calling returns the client that sends a User-Agent, or one of which nothing is known.
func Calling(userAgent string) *Client {
	userAgent = strings.ToLower(userAgent)
	return find(func(c *Client) bool { return strings.HasPrefix(userAgent, c.Name) })
}

func find(is func(*Client) bool) *Client {
	at := slices.IndexFunc(Clients, is)
	if at < 0 {
		return &unknown
	}
	return Clients[at]
}

// HasSecret reports whether a variable of the environment holds one of the client's secrets.
func (c *Client) HasSecret(variable string) bool {
	return slices.ContainsFunc(c.Secrets, func(s string) bool {
		return variable == s || strings.HasSuffix(s, "_") && strings.HasPrefix(variable, s)
	})
}

// With returns the clients for which a condition holds.
func With(holds func(*Client) bool) (found []*Client) {
	for _, c := range Clients {
		if holds(c) {
			found = append(found, c)
		}
	}
	return found
}

// Names returns the names of clients.
func Names(clients []*Client) []string {
	names := make([]string, len(clients))
	for i, c := range clients {
		names[i] = c.Name
	}
	return names
}

// Titles returns the titles of clients.
func Titles(clients []*Client) []string {
	titles := make([]string, len(clients))
	for i, c := range clients {
		titles[i] = c.Title
	}
	return titles
}

// HooksReplace reports whether some client's hook can replace the results of such a tool. The names of clients' own tools
// differ, so that a transcript need not say which client wrote it.
func HooksReplace(tool string) bool {
	return len(With(func(c *Client) bool { return c.Hooks != nil && c.Hooks.Replaces(tool) })) > 0
}
