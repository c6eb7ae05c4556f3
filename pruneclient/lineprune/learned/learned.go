// Package learned ranks the lines of a text by weights learned offline from agent
// sessions: how likely the agent is to use a line later, per token of it. All
// arithmetic at inference is on integers, so that every machine keeps the same lines.
package learned

import "mcp-pruner/pruneclient/lineprune/session"

// Input is a text and all that is known about why it was asked for.
type Input struct {
	Lines    []string
	Tokens   []int32   // per line, its newline included
	Relevant []float64 // per line, the score of the hand-written rules, not negative
	Kind     Kind

	Question  string
	Tool      string          // the tool's name, if known
	File      string          // the file read
	Command   string          // the command that printed the text
	Pattern   string          // what was searched for
	FirstLine int             // number of the first line in File; 0 and 1 are the same
	Events    []session.Event // most recent first
	Asked     bool            // the question was written for this text
	Careful   bool            // only what is hardly needed may go
	Boldness  float64         // multiplies the price at which a line is kept; 0 is 1
}

// Kind is what the rules take the text for.
type Kind int32

// The kinds.
const (
	Code Kind = iota
	Logs
	Docs
	Grep
)
