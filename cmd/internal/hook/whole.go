package hook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Some versions of Claude Code answer a second Read of the same lines of a file with words: that the result of the first one still
// holds. The client does not know that a hook cut that result.

// whole answers such a Read with all the lines of the first one, if a hook cut that. nil leaves the client's words.
func (s state) whole(msg message) []byte {
	id := s.cutBefore(msg)
	if id == "" {
		return nil
	}
	text, first, err := recovery.ArchiveIn(s.dir).Get(id, s.project(msg.call.Folder))
	if err != nil {
		return nil
	}
	part := agent.Part{Text: text, First: first, Count: strings.Count(text, "\n") + 1}
	answer, err := json.Marshal(msg.client.Hooks.Answer(msg.object, string(msg.tool.Kind), agent.Replacement{
		Text: text, Part: func() (agent.Part, bool) { return part, true },
	}))
	if err != nil {
		return nil
	}
	return answer
}

// cutBefore returns the id of the original of the latest read of the same lines, "" if no hook cut it.
func (s state) cutBefore(msg message) (id string) {
	t := s.transcript(msg, false, func(t transcript) history.Need {
		if showing(t.Steps, msg.call.ID, msg.tool) != "" {
			return history.NeedsNothing
		}
		return history.NeedsEvents
	})
	use := showing(t.Steps, msg.call.ID, msg.tool)
	if use == "" {
		return ""
	}
	for _, n := range NotesOf(s.dir, msg.call.Session) {
		if n.Call == use && !n.Back {
			id = n.ID
		}
	}
	return id
}

// showing returns the id of the latest call that read the same lines as the one with an id and was shown more than that they are
// unchanged, "" if there is none.
func showing(steps []sessions.Step, id string, call history.ToolCall) string {
	words := map[string]bool{id: true} // calls whose results are not the lines
	for _, step := range slices.Backward(steps) {
		other := history.ParseCall(step.Tool, step.Args)
		switch {
		case step.Kind == sessions.Result && (step.Err || other.Unchanged(step.Out)):
			words[step.ID] = true
		case step.Kind == sessions.Use && !words[step.ID] && call.SameRead(other):
			return step.ID
		}
	}
	return ""
}
