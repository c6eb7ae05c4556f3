// Package sessions reads what agents did: Claude Code's and Codex's transcripts and
// collections of sessions as JSON lines, all into the same steps.
package sessions

import (
	"slices"
	"strings"
)

// Kind is what a step of a session is.
type Kind string

// The steps of a session, in the order they happened.
const (
	User    Kind = "user"    // the person wrote
	Call    Kind = "call"    // the model was called; says and uses that follow are its answer
	Say     Kind = "say"     // the model said or thought
	Use     Kind = "use"     // the model called a tool
	Result  Kind = "result"  // the tool's result
	Compact Kind = "compact" // the context was summarized: nothing before is in it any more
)

// Step is one step.
type Step struct {
	Kind Kind

	Text  string // user, say
	Think string // say

	Usage *Usage // call; nil where the transcript has none

	ID   string // use, result: of the tool call
	Tool string // use, result
	Args map[string]any
	Out  string // result: as the model was shown it
	Err  bool   // result: the client marked it as an error
}

// Usage is what the API counted for one model call. Input is what was neither read
// from the cache nor written to it.
type Usage struct {
	Input, CacheWrite, CacheRead, Output int
}

// Prompt is all tokens of the prompt.
func (u Usage) Prompt() int { return u.Input + u.CacheWrite + u.CacheRead }

// Session is one session.
type Session struct {
	ID     string
	Source string // claude, codex, or what the collection says
	Path   string // where it was read from
	Steps  []Step
}

// Measured says whether every model call has its usage.
func (s Session) Measured() bool {
	calls := 0
	for _, step := range s.Steps {
		if step.Kind == Call {
			if step.Usage == nil {
				return false
			}
			calls++
		}
	}
	return calls > 0
}

// Uses says whether the session has a tool call of that id.
func (s Session) Uses(id string) bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Kind == Use && step.ID == id })
}

// plainText is what a message's content says: a string, or the text blocks of a list.
func plainText(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var texts []string
		for _, item := range c {
			if block, ok := item.(map[string]any); ok {
				if text, ok := block["text"].(string); ok {
					texts = append(texts, text)
				}
			}
		}
		return strings.Join(texts, "\n")
	}
	return ""
}
