package sessions

import (
	"encoding/json"
	"errors"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// format is how a client writes its transcripts.
type format struct {
	decode func(line []byte) (entry any, err error)

	// reader returns a reader of entries. agent is the id of a sub-agent; "" selects the main thread.
	reader func(agent string) reader

	// mayBePrompt reports without decoding whether a line may be a message of the user.
	mayBePrompt func(line []byte) bool
}

// reader converts decoded lines into the steps of one session.
type reader interface {
	entry(any)
	read() *Session
}

func formatOf(c *agent.Client) format {
	switch {
	case c.Transcripts.Lines == agent.CodexLines:
		return codexFormat
	case c.Transcripts.Steps != nil:
		return ownFormat(c)
	}
	return claudeFormat
}

// clientOfLine returns the client whose transcript begins with a line, or nil.
func clientOfLine(line []byte) *agent.Client {
	for _, c := range agent.Clients {
		if begins(c.Transcripts, line) {
			return c
		}
	}
	var head struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	}
	switch {
	case json.Unmarshal(line, &head) != nil:
		return nil
	case head.Payload != nil:
		return &agent.Codex
	case head.Type != "":
		return &agent.Claude
	}
	return nil
}

// begins reports whether a line begins a transcript that the client's value reads.
func begins(t agent.Transcripts, line []byte) bool {
	if t.Head != nil {
		_, ok := t.Head(line)
		return ok
	}
	return t.Steps != nil && len(t.Steps(line)) > 0
}

// ownFormat is the format of a client whose value has a function that reads it.
func ownFormat(c *agent.Client) format {
	return format{
		decode: func(line []byte) (any, error) {
			e := ownEntry{steps: c.Transcripts.Steps(line)}
			known := len(e.steps) > 0
			if c.Transcripts.Head != nil {
				var begins bool
				e.head, begins = c.Transcripts.Head(line)
				known = known || begins
			}
			if !known {
				return nil, errNoStep
			}
			return e, nil
		},
		reader:      func(string) reader { return newOwnReader(c) },
		mayBePrompt: func([]byte) bool { return true },
	}
}

var errNoStep = errors.New("no step")

// ownEntry holds the facts that a line states about its session, if it does, and its steps.
type ownEntry struct {
	head  agent.Head
	steps []agent.Step
}

type ownReader struct {
	session Session
	uses    map[string]Step // by id, for the results
}

func newOwnReader(c *agent.Client) *ownReader {
	return &ownReader{session: Session{Source: c.Name}, uses: map[string]Step{}}
}

func (r *ownReader) read() *Session { return &r.session }

func (r *ownReader) entry(e any) {
	own, _ := e.(ownEntry)
	if own.head.ID != "" && r.session.ID == "" {
		r.session.ID = own.head.ID
		r.session.begin(own.head.Project, own.head.Version, own.head.Begun)
	}
	for _, s := range own.steps {
		step := Step(s)
		if step.Stamp != "" {
			step.At = r.session.since(step.Stamp)
		}
		use, known := r.uses[step.ID]
		switch {
		case step.Kind == Use:
			r.uses[step.ID] = step
		case step.Kind == Result && known:
			step.Tool, step.Args = use.Tool, use.Args
		}
		r.session.Steps = append(r.session.Steps, step)
	}
}
