// Package session describes what is known about a tool call and about the session it
// belongs to, beside the question: the tool, its arguments, and what the agent said and did
// before. A pruner may use it; an empty value is always valid.
package session

import "encoding/json"

// Kind is the kind of an Event.
type Kind string

// The kinds of events.
const (
	Say    Kind = "say"    // words of the agent or the user
	Search Kind = "search" // a pattern that was searched for
	Read   Kind = "read"   // a file that was read
	Edit   Kind = "edit"   // a file that was changed; Text is what was replaced and its replacement
	Result Kind = "result" // what a tool returned
)

// Event is one thing that was said or done earlier in the session.
type Event struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
	File string `json:"file,omitempty"` // the file it is about, where there is one
}

// Call is the call whose output is pruned, and what came before it.
type Call struct {
	Tool    string         // name of the tool
	Args    map[string]any // its arguments, as decoded from JSON
	Context []Event        // most recent first

	Careful  bool    // only what is hardly needed may go
	Boldness float64 // multiplies the price at which a line is kept; 0 is 1

	Asked bool // the question was written for this text, not taken from what the agent said
}

// File is the path of the one file the call reads, or "". A search has a path, too, but
// prints matches, not the file.
func (c Call) File() string {
	if _, search := c.Args["pattern"]; search {
		return ""
	}
	return c.text("file_path", "path", "filePath", "filename")
}

// Command is the shell command the call runs, or "".
func (c Call) Command() string { return c.text("command", "cmd") }

// text is the first of the named arguments that is a string and not empty.
func (c Call) text(names ...string) string {
	for _, name := range names {
		if s, ok := c.Args[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// Pattern is what the call searches for, or "".
func (c Call) Pattern() string { return c.text("pattern", "query") }

// FirstLine is the number of the first line the call asks for, or 0.
func (c Call) FirstLine() int {
	for _, name := range []string{"offset", "start_line"} {
		switch n := c.Args[name].(type) {
		case float64:
			return int(max(min(n, maxLine), 0))
		case int:
			return max(min(n, maxLine), 0)
		case json.Number:
			line, err := n.Int64()
			if err == nil {
				return int(max(min(line, maxLine), 0))
			}
		}
	}
	return 0
}

// maxLine is more lines than any file has.
const maxLine = 1 << 30
