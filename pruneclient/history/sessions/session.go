// Package sessions reads records of agents' sessions: transcripts of Claude Code and Codex, and collections
// of sessions as JSON lines. It converts all of them into the same steps.
package sessions

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// Kind is the kind of a step.
type Kind string

// The kinds of steps.
const (
	User    Kind = "user"    // a message of the person
	Call    Kind = "call"    // a model call; the says and uses that follow are its answer
	Say     Kind = "say"     // a message or the reasoning of the model
	Use     Kind = "use"     // a tool call
	Result  Kind = "result"  // the tool's result
	Compact Kind = "compact" // the context was summarised: it contains nothing from before
	Attach  Kind = "attach"  // what the client added by itself, such as a list of skills or a changed file
)

// Step is one step.
type Step struct {
	Kind Kind

	Text  string // user, say, attach
	Think string // say

	Usage *Usage // call; nil if the transcript has none
	Model string // call; "" if the transcript does not name it
	Type  string // attach: what it is

	ID   string // use, result: of the tool call
	Tool string // use, result
	Args map[string]any
	Out  string // result: the text that the model was shown
	Err  bool   // result: the client marked it as an error
}

// AddTo adds the step to a log.
func (s Step) AddTo(log *history.Log) {
	switch s.Kind {
	case Call:
		log.Turn()
	case User:
		log.User(s.Text)
	case Say:
		log.Think(s.Think)
		log.Say(s.Text)
	case Compact:
		log.Compact()
	case Use:
		log.Use(history.ParseCall(s.Tool, s.Args))
	case Result:
		log.Result(history.ParseCall(s.Tool, s.Args), s.Out)
	}
}

// Usage is the API's token counts for one model call. Input excludes tokens read from or written to the
// cache.
type Usage struct {
	Input, CacheWrite, CacheRead, Output int

	Hour int // the part of CacheWrite that the cache keeps for an hour
}

// Prompt returns the number of tokens of the whole prompt.
func (u Usage) Prompt() int { return u.Input + u.CacheWrite + u.CacheRead }

// Session is one session.
type Session struct {
	ID     string
	Source string // claude, codex, or the source named by the collection
	Steps  []Step

	Exits map[string]int // exit statuses of commands by call id, as far as the transcript has them (Codex)
}

// Measured reports whether the model calls have their usage: nine of ten at least, because an interrupted one may have none.
func (s Session) Measured() bool {
	calls, measured := 0, 0
	for _, step := range s.Steps {
		if step.Kind == Call {
			calls++
			if step.Usage != nil {
				measured++
			}
		}
	}
	return measured > 0 && 10*measured >= 9*calls
}

// Model returns the model of the first call that names one.
func (s Session) Model() string {
	for _, step := range s.Steps {
		if step.Kind == Call && step.Model != "" {
			return step.Model
		}
	}
	return ""
}

// Uses reports whether the session has a tool call with that id.
func (s Session) Uses(id string) bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Kind == Use && step.ID == id })
}

// plainText returns the text of a message's content: a string, or the text blocks of a list.
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
