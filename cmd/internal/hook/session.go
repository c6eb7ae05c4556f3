package hook

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
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

// knowledge is what a hook knows of a result before it prunes it.
type knowledge struct {
	output
	transcript
	result existing.Result
	back   string // the command that leads the agent back to the whole
}

// know returns what the session says about an output: what completes it, the question, and what leads the agent back. prune
// reports whether the output may be pruned at all. size is the number of its tokens.
func (s state) know(msg message, o output, size int) (k knowledge, prune bool) {
	k.output = o
	if s.others.Stays(msg.tool, size) != "" {
		return k, false // whatever the session knows
	}
	k.transcript = s.transcript(msg, o.preview != "", func(t transcript) history.Need { return needsOf(t.Session, t.id, msg.tool) })
	msg = msg.as(k.transcript)
	var whole bool
	if k.output, whole = o.completed(msg, k.transcript); !whole {
		return k, false
	}
	if _, printed := (recovery.Printed{State: s.dir}).Find(k.body.Code()); printed {
		return k, false
	}
	log := s.log(msg, k.transcript)
	r, decision := existing.Result{Call: msg.tool, Args: msg.call.Args, Body: k.body, Most: k.most, Noted: msg.call.Numbered}.Known(&log, s.others)
	if !decision.Prune {
		return k, false
	}
	k.result, k.back = r, existing.BackOf(log.Reach(msg.tool), func() string { return s.wayBack(msg.client.Name) })
	return k, true
}

// as returns the message with the call of a command as the transcript has it: Codex tells its hook neither the tool's name nor what
// the command is for.
func (msg message) as(t transcript) message {
	for _, step := range t.Steps {
		if step.Kind == sessions.Use && step.ID == t.id && t.id != "" {
			if call := history.ParseCall(step.Tool, step.Args); call.Kind == history.Bash && call.Command == msg.tool.Command {
				msg.tool, msg.call.Args = call, step.Args
			}
		}
	}
	return msg
}

// log returns the history before a call, by the transcript and by what the message itself tells.
func (s state) log(msg message, t transcript) (log history.Log) {
	feed(&log, t.Steps, t.id, s.cutIn(msg.call.Session, msg.tool))
	if len(msg.call.Said) > 0 || msg.call.Prompt != "" {
		log.User(msg.call.Prompt)
		log.Turn()
	}
	for _, words := range msg.call.Said {
		log.Say(words)
	}
	for _, tool := range msg.call.Ran {
		log.Ran(tool, nil)
	}
	if msg.call.Role != "" && !log.Reach(msg.tool).Recovers() {
		if tool := s.shellOf(msg); tool != "" {
			log.Ran(tool, nil)
		}
	}
	return log
}

// shellOf returns a tool that runs commands, as far as a sub-agent has one from its first call on: its definition says so, and the
// session around it has run one, so that no rule denies it. "": not known.
func (s state) shellOf(msg message) (tool string) {
	own, err := setup.Home{Lookup: s.lookup}.Folder(msg.client.Files.Folder)
	folders := []string{filepath.Join(own, "agents")}
	for at := s.project(msg.call.Folder); filepath.IsAbs(at); at = filepath.Dir(at) {
		folders = append(folders, filepath.Join(at, ".claude", "agents"))
		if at == filepath.Dir(at) {
			break
		}
	}
	if err != nil || !agent.ClaudeShell(msg.call.Role, append(folders, filepath.Join(msg.call.Folder, ".claude", "agents"))...) {
		return ""
	}
	session, _ := sessions.Tail(msg.call.Parent, msg.client.Name, "", func(session sessions.Session) history.Need { // after an error, what has been read
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
		if step.Kind == sessions.Result && !step.Err && history.ReachBy([]string{step.Tool}).Commands && history.Takes(step.Tool, slices.Collect(maps.Keys(step.Args))) {
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

// transcript is the session up to a call, as far as it was read.
type transcript struct {
	sessions.Session
	path string
	id   string // of the call
}

// transcript reads the session up to the call. Clients write their transcripts shortly after they run hooks, so it waits
// for a call that is not there yet, unless the call itself says what it is for and the client shows all (not a part) of its output. In
// front of a session's first call even the file can be missing. A client that does not tell the call's id writes the call: the last one
// of that tool without a result.
func (s state) transcript(msg message, part bool, needs func(transcript) history.Need) transcript {
	t, late := transcript{path: msg.call.Transcript, id: msg.call.ID}, lateBy
	if msg.call.Messages != nil {
		t.Session = sessions.OfMessages(msg.call.Messages)
		return t
	}
	if t.path == "" {
		t.path = s.transcriptOf(msg.client, msg.call.Session)
	}
	if t.path == "" {
		return t
	}
	unnamed := msg.client.Transcripts.Of != nil
	if unnamed {
		late = veryLate
	}
	speaks := msg.tool.About != "" && !msg.call.Statusless && msg.call.Shown == nil && !part
	for size, waited := int64(-1), time.Duration(0); ; waited += lookAgain {
		info, err := os.Stat(t.path)
		if err == nil && info.Size() != size {
			size = info.Size()
			t.Session, _ = sessions.Tail(t.path, msg.client.Name, msg.call.Agent, func(session sessions.Session) history.Need { // after an error, what has been read
				return needs(transcript{Session: session, path: t.path, id: t.id})
			})
		}
		if t.id == "" && unnamed {
			t.id = openCall(t.Session, msg.call.Tool)
		}
		_, ended := t.Exits[t.id]
		found := t.id == "" && !unnamed || t.Uses(t.id) && (ended || !msg.call.Statusless) || speaks
		if waited >= late || found {
			return t
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
		for _, n := range NotesOf(s.dir, session) {
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
