// Package learned ranks the lines of a text by weights learned offline from agent sessions. The score
// estimates how likely the agent is to use a line later, per token of the line. Inference uses integer
// arithmetic only, so that every machine keeps the same lines.
package learned

import "github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"

// Input is a text and everything known about the request for it.
type Input struct {
	Lines    []string
	Tokens   []int32   // per line, its newline included
	Relevant []float64 // per line, the score of the hand-written rules, >= 0
	Kind     Kind

	Question  string
	Tool      string          // the tool's name, if known
	File      string          // the file read
	Command   string          // the command that printed the text
	Pattern   string          // the pattern searched for
	FirstLine int             // number of the first line in File; 0 means 1
	Events    []session.Event // most recent first
	Asked     bool            // the question was written for this text, not derived from the session
	Careful   bool            // prune only lines that are very unlikely to be needed
	Boldness  float64         // factor for the price at which a line is kept; 0 means 1
}

// Kind is the kind of the text as the rules detected it.
type Kind int32

const (
	Code Kind = iota
	Logs
	Docs
	Grep
)
