package hook

import (
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// pause waits for a transcript. Tests replace it.
var pause = time.Sleep

// know completes the result, which has the given number of tokens, by what the session knows: the question, and the exit
// status if the client did not tell it. It reports whether the result may be pruned at all.
func (s state) know(c client, f *finished, size int, r *existing.Result) bool {
	if s.others.Stays(r.Call, size) != "" {
		return false // whatever the session knows
	}
	var log history.Log
	var session sessions.Session
	if f.transcript != "" {
		session = s.transcript(c, *f, r.Call)
		feed(&log, session.Steps, f.id)
	}
	if f.statusless {
		status, known := session.Exits[f.id]
		if !known {
			return false // without it a failed command would look like one that succeeded
		}
		f.text = existing.WithStatus(status, f.text)
		r.Body = f.body(r.Call.Kind)
	}
	if len(f.said) > 0 || f.prompt != "" {
		log.User(f.prompt)
		log.Turn()
	}
	for _, words := range f.said {
		log.Say(words)
	}
	return r.Know(&log, s.others).Prune
}

// transcript reads the session up to the call. Clients write their transcripts shortly after they run hooks, so it waits
// for a call that is not there yet, unless the call itself says what it is for.
func (s state) transcript(c client, f finished, call history.Call) sessions.Session {
	needs := func(session sessions.Session) history.Need { return needsOf(session, f.id) }
	var session sessions.Session
	size := int64(-1)
	for waited := time.Duration(0); ; waited += lookAgain {
		info, err := os.Stat(f.transcript)
		if err != nil {
			return session
		}
		if info.Size() != size {
			size = info.Size()
			session, _ = sessions.Tail(f.transcript, c.name, f.agent, needs) // after an error, what has been read
		}
		_, ended := session.Exits[f.id]
		switch {
		case f.id == "", waited >= lateBy, session.Uses(f.id) && (ended || !f.statusless), call.About != "" && !f.statusless:
			return session
		}
		pause(lookAgain)
	}
}

// feed adds the steps before a call to log. If the transcript does not contain the call yet, those are all steps.
func feed(log *history.Log, steps []sessions.Step, id string) {
	for _, step := range steps {
		if step.Kind == sessions.Use && step.ID == id && id != "" {
			return
		}
		step.AddTo(log)
	}
}

// needsOf returns what the end of a session lacks to be as good as the whole.
func needsOf(session sessions.Session, id string) history.Need {
	var log history.Log
	feed(&log, session.Steps, id)
	return log.Needs()
}
