package hook

import (
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble/stores"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// records holds the hooks' event log and trace, which are beside the ledger.
type records struct {
	log       *os.File
	trace     *trace.File
	write     func(event.Event)
	observers []states.Observer
}

// maxLog is the size in bytes at which a new event log is started. The previous one is kept.
const maxLog = 16 << 20

// keptTraces is the number of rotated traces of hooks that are kept.
const keptTraces = 4

// openRecords opens the event log and the trace. Hooks work without them.
func openRecords(dir string) *records {
	r := &records{}
	if os.MkdirAll(dir, 0o700) != nil {
		return r
	}
	r.openLog(dir)
	c := settings.Settings{TraceMaxBytes: maxLog, TraceKeep: keptTraces}
	door := stores.Door{Settings: c, Transport: "hook", Emit: r.emit}
	if file, err := door.TraceAt(filepath.Join(dir, "hook-trace.jsonl")); err == nil {
		r.trace = file
		r.observers = []states.Observer{door.Tracer(file)}
	}
	return r
}

func (r *records) openLog(dir string) {
	path := filepath.Join(dir, "hook-events.jsonl")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1") // another hook may have done it already
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		r.log, r.write = f, event.NewLog(f, event.Info)
	}
}

func (r *records) emit(e event.Event) {
	if r.write != nil {
		r.write(e)
	}
}

func (r *records) close() {
	if r.trace != nil {
		_ = r.trace.Close()
	}
	if r.log != nil {
		_ = r.log.Close()
	}
}

// spooler passes the result to the ledger.
func (s state) spooler(c *agent.Client, f finished, call history.ToolCall) ledger.Spooler {
	segment := ledger.Result(call, f.Text)
	segment.Session, segment.Project = contextgc.SessionID(f.Session), contextgc.CleanID(c.Name)
	if f.Folder != "" {
		segment.Project = contextgc.ProjectOf(f.Folder)
	}
	return ledger.Spooler{Spool: ledger.SpoolOf(s.ledger), Segment: segment, Text: f.Text}
}

// note records that a result of shown tokens was replaced by one of sent tokens.
func (s state) note(c *agent.Client, f finished, call history.ToolCall, id string, shown, sent int) {
	notes.Add(s.dir, notes.Note{Time: s.now().UTC().Truncate(time.Millisecond), Client: c.Name, Session: f.Session,
		Transcript: f.Transcript, Tool: f.Tool, Call: f.ID, ID: id, About: call.Subject(), Tokens: shown, Sent: sent})
}
