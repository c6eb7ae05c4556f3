package hook

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Limits of the wait for a transcript.
const (
	lateBy    = 120 * time.Millisecond // largest delay of a transcript
	veryLate  = 500 * time.Millisecond // the same of one whose path the client does not tell: it is written later
	lookAgain = 10 * time.Millisecond
)

// pause waits for a transcript. Tests replace it.
var pause = time.Sleep

// know completes the result, which has the given number of tokens, by what the session knows: the question, and the exit
// status if the client did not tell it. prune reports whether the result may be pruned at all, and back is what leads the agent back.
func (s state) know(c *agent.Client, f *finished, size int, r *existing.Result) (back string, prune bool) {
	if s.others.Stays(r.Call, size) != "" {
		return "", false // whatever the session knows
	}
	var log history.Log
	var session sessions.Session
	if f.Transcript == "" {
		f.Transcript = s.transcriptOf(c, f.Session)
	}
	if f.Transcript != "" {
		session = s.transcript(c, f, r.Call, func(session sessions.Session) history.Need { return needsOf(session, f.ID, r.Call) })
		feed(&log, session.Steps, f.ID, s.cutIn(f.Session, r.Call))
	}
	if f.Statusless {
		status, known := session.Exits[f.ID]
		if !known {
			return "", false // without it a failed command would look like one that succeeded
		}
		if f.Clipped && !f.whole(r) {
			return "", false
		}
		f.Text = existing.WithStatus(status, f.Text)
		r.Body = f.body(r.Call)
	}
	if len(f.Said) > 0 || f.Prompt != "" {
		log.User(f.Prompt)
		log.Turn()
	}
	for _, words := range f.Said {
		log.Say(words)
	}
	if _, printed := (archive.Printed{State: s.dir}).Find(r.Body.Code()); printed {
		return "", false
	}
	for _, tool := range f.Ran {
		log.Ran(tool)
	}
	if f.Role != "" && !log.Reach(r.Call).Recovers() {
		if tool := s.shellOf(c, f); tool != "" {
			log.Ran(tool)
		}
	}
	if !r.Know(&log, s.others).Prune {
		return "", false
	}
	return existing.BackOf(log.Reach(r.Call), func() string { return s.wayBack(c.Name) }), true
}

// shellOf returns a tool that runs commands, as far as a sub-agent has one from its first call on: its definition says so, and the
// session around it has run one, so that no rule denies it. "": not known.
func (s state) shellOf(c *agent.Client, f *finished) (tool string) {
	own, err := setup.Home{Lookup: s.lookup}.Folder(c.Files.Folder)
	folders := []string{filepath.Join(own, "agents")}
	for at := s.project(f.Folder); filepath.IsAbs(at); at = filepath.Dir(at) {
		folders = append(folders, filepath.Join(at, ".claude", "agents"))
		if at == filepath.Dir(at) {
			break
		}
	}
	if err != nil || !agent.ClaudeShell(f.Role, append(folders, filepath.Join(f.Folder, ".claude", "agents"))...) {
		return ""
	}
	session, _ := sessions.Tail(f.Parent, c.Name, "", func(session sessions.Session) history.Need { // after an error, what has been read
		if shellIn(session.Steps) == "" {
			return history.NeedsEvents
		}
		return history.NeedsNothing
	})
	return shellIn(session.Steps)
}

// shellIn returns a tool by which a session has run a command, "" if it has not.
func shellIn(steps []sessions.Step) string {
	for _, step := range steps {
		if step.Kind == sessions.Result && !step.Err && history.ReachBy([]string{step.Tool}).Commands {
			return step.Tool
		}
	}
	return ""
}

// transcriptOf returns the path of the transcript of a session whose client does not tell it, "" if there is none.
func (s state) transcriptOf(c *agent.Client, session string) string {
	if c.Transcripts.Of == nil || session == "" || session != filepath.Base(session) {
		return ""
	}
	folders, err := setup.Home{Lookup: s.lookup}.Transcripts(c)
	if err != nil || len(folders) == 0 {
		return ""
	}
	return filepath.Join(folders[0], c.Transcripts.Of(session))
}

// transcript reads the session up to the call. Clients write their transcripts shortly after they run hooks, so it waits
// for a call that is not there yet, unless the call itself says what it is for. In front of a session's first call even the
// file can be missing. A client that does not tell the call's id writes the call: the last one of that tool without a result.
func (s state) transcript(c *agent.Client, f *finished, call history.ToolCall, needs func(sessions.Session) history.Need) sessions.Session {
	var session sessions.Session
	size, late := int64(-1), lateBy
	if c.Transcripts.Of != nil {
		late = veryLate
	}
	for waited := time.Duration(0); ; waited += lookAgain {
		info, err := os.Stat(f.Transcript)
		if err != nil && waited >= late {
			return session
		}
		if err == nil && info.Size() != size {
			size = info.Size()
			session, _ = sessions.Tail(f.Transcript, c.Name, f.Agent, needs) // after an error, what has been read
		}
		if f.ID == "" && c.Transcripts.Of != nil {
			f.ID = openCall(session, f.Tool)
		}
		_, ended := session.Exits[f.ID]
		switch {
		case f.ID == "" && c.Transcripts.Of == nil, waited >= late, session.Uses(f.ID) && (ended || !f.Statusless), call.About != "" && !f.Statusless && f.Shown == nil && f.preview == "":
			return session
		}
		pause(lookAgain)
	}
}

// openCall returns the id of the last call of a tool if it has no result yet, else "".
func openCall(session sessions.Session, tool string) string {
	for _, step := range slices.Backward(session.Steps) {
		switch {
		case step.Kind == sessions.Result && step.Tool == tool:
			return ""
		case step.Kind == sessions.Use && step.Tool == tool:
			return step.ID
		}
	}
	return ""
}

// feed adds the steps before a call to log. If the transcript does not contain the call yet, those are all steps. cut reports
// whether a result was cut.
func feed(log *history.Log, steps []sessions.Step, id string, cut func(sessions.Step) bool) {
	for _, step := range steps {
		if step.Kind == sessions.Use && step.ID == id && id != "" {
			return
		}
		step.AddTo(log)
		if step.Kind == sessions.Result && cut(step) {
			log.Cut(history.ParseCall(step.Tool, step.Args))
		}
	}
}

// cutIn returns a function that reports whether a result of a session was cut, as far as that concerns a call: the result has the
// header of a cut one, or a hook noted the call. The header of a cut read of Claude Code is not in its result.
func (s state) cutIn(session string, call history.ToolCall) func(sessions.Step) bool {
	noted := sync.OnceValue(func() map[string]bool {
		calls := map[string]bool{}
		for _, n := range notes.Of(s.dir, session) {
			calls[n.Call] = n.Call != ""
		}
		return calls
	})
	return func(step sessions.Step) bool {
		if !call.Again(history.ParseCall(step.Tool, step.Args)) {
			return false
		}
		return existing.IsCut(step.Out) || noted()[step.ID]
	}
}

// cutNowhere is for a log of which only its size counts.
func cutNowhere(sessions.Step) bool { return false }

// needsOf returns what the end of a session lacks to be as good as the whole, for the result of a call.
func needsOf(session sessions.Session, id string, call history.ToolCall) history.Need {
	var log history.Log
	feed(&log, session.Steps, id, cutNowhere)
	if !log.Reach(call).Leads(call) || log.NeedsEdits(call) {
		return history.NeedsEvents // a command may have run at any time, and so an edit
	}
	return log.Needs()
}
