// Package sessions reads records of agents' sessions: transcripts of Claude Code and Codex, and collections
// of sessions as JSON lines. It converts all of them into the same steps, computes from these what a session
// cost and what one token of each of its results cost (docs/BILL.md), and decides what could go from the fixed
// prefix of its prompts: from everything that stands before the user's first word and is paid for with every
// call.
package sessions

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Kind is the kind of a step.
type Kind = agent.StepKind

const (
	User    = agent.User
	Call    = agent.Turn
	Say     = agent.Say
	Use     = agent.Use
	Result  = agent.Result
	Compact = agent.Compact
	Drop    = agent.Drop
	Attach  = agent.Attach
)

// Step is one step.
type Step agent.Step

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
		if !s.Err {
			log.Ran(s.Tool, s.Args)
		}
		log.Result(history.ParseCall(s.Tool, s.Args), s.Out)
	}
}

// Usage is the API's token counts for one model call.
type Usage = agent.Usage

// Session is one session.
type Session struct {
	ID     string
	Source string // claude, codex, or the source named by the collection
	Steps  []Step

	Project string    // folder or repository; "" if the transcript does not name it
	Version string    // of the client; "" likewise
	Begun   time.Time // or the day; zero likewise
	Plan    bool      // paid by a subscription, not by the token, as far as the transcript says so (Codex)

	Exits map[string]int // exit statuses of commands by call id, as far as the transcript has them (Codex)
}

// begin sets the project, the version and the start of the session, each by the first line that has it.
func (s *Session) begin(project, version, at string) {
	s.Project, s.Version = cmp.Or(s.Project, project), cmp.Or(s.Version, version)
	if s.Begun.IsZero() {
		s.Begun, _ = time.Parse(time.RFC3339, at)
	}
}

// since returns the time from the begin of the session to a time stamp, or 0.
func (s *Session) since(at string) time.Duration {
	t, err := time.Parse(time.RFC3339, at)
	if err != nil || s.Begun.IsZero() {
		return 0
	}
	return max(t.Sub(s.Begun), 0)
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
		if step.Kind == Call && step.Model != "" && step.Model[0] != '<' { // <synthetic>: by the client
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
