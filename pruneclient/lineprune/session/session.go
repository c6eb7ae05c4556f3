// Package session describes what is known about a tool call besides the question: the tool, its arguments,
// and what the agent said and did before. Pruners may use it. The zero value is always valid.
package session

import (
	"regexp"
	"sync"
)

// Kind is the kind of an Event.
type Kind string

const (
	Say    Kind = "say"    // a message of the agent or the user
	Search Kind = "search" // a pattern that was searched for
	Read   Kind = "read"   // a file that was read
	Edit   Kind = "edit"   // a file that was changed; Text is the replaced text and its replacement
	Result Kind = "result" // the output of a tool
)

// Event is one earlier event of the session.
type Event struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
	File string `json:"file,omitempty"` // the file concerned, if any
}

// Origin is the call whose output is pruned, and the events before it.
type Origin struct {
	Tool    string         // name of the tool
	Args    map[string]any // its arguments, as decoded from JSON
	Context []Event        // most recent first

	Careful  bool    // prune only lines that are very unlikely to be needed
	Boldness float64 // factor for the price at which a line is kept; 0 means 1

	Asked bool // the question was written for this text, not derived from the agent's messages

	Said   string // the agent's sentence before the call; the question if neither this nor Prompt is known
	Prompt string // the user's latest message
}

// File returns the path of the one file that the call reads, or "". A search has a path argument, too, but
// its output is matches rather than the file.
func (c Origin) File() string {
	if _, search := c.Args["pattern"]; search {
		return ""
	}
	return Text(c.Args, "file_path", "path", "filePath", "filename")
}

// Command returns the shell command that the call runs, or "".
func (c Origin) Command() string { return Text(c.Args, "command", "cmd") }

// Text returns the first of the named arguments that is a non-empty string, or "".
func Text(args map[string]any, names ...string) string {
	for _, name := range names {
		if s, ok := args[name].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// About returns the description that the agent gave with the call, or "".
func (c Origin) About() string { return Text(c.Args, "description", "justification") }

// Pattern returns the pattern that the call searches for, or "".
func (c Origin) Pattern() string { return Text(c.Args, "pattern", "query") }

// FirstLine returns the number of the first line that the call asks for, or 0.
func (c Origin) FirstLine() int { return c.number("offset", "start_line") }

// maxLine exceeds the number of lines of any file.
const maxLine = 1 << 30

// Sentences splits what somebody said. The dot in a file's name does not end a sentence.
func Sentences(text string) []string { return sentenceEnd().Split(text, -1) }

var sentenceEnd = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[.!?;:]\s+|\n+`) })
