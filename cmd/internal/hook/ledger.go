package hook

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// records holds the hooks' event log and what their machines report to, which are beside the ledger.
type records struct {
	assemble.Parts
	log   *os.File
	write func(fsm.Event)
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
	r.Parts, _ = assemble.Make(context.Background(), assemble.Hook, assemble.Options{Settings: c, Emit: r.emit, Trace: filepath.Join(dir, "hook-trace.jsonl")})
	return r
}

func (r *records) openLog(dir string) {
	path := filepath.Join(dir, "hook-events.jsonl")
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		_ = os.Rename(path, path+".1") // another hook may have done it already
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		r.log, r.write = f, fsm.JSONSink(f, fsm.LevelInfo)
	}
}

func (r *records) emit(e fsm.Event) {
	if r.write != nil {
		r.write(e)
	}
}

func (r *records) close() {
	r.Close()
	if r.log != nil {
		_ = r.log.Close()
	}
}

// spooler passes the text of a result to the ledger.
func (s state) spooler(msg message, text string) ledger.Spooler {
	segment := ledger.Result(msg.tool, text)
	segment.Session, segment.Project = contextgc.SessionID(msg.call.Session), contextgc.CleanID(msg.client.Name)
	if msg.call.Folder != "" {
		segment.Project = contextgc.ProjectOf(msg.call.Folder)
	}
	return ledger.Spooler{Spool: ledger.SpoolOf(s.ledger), Segment: segment, Call: msg.call.ID, Text: text}
}

// note records that a result of shown tokens was replaced by one of sent tokens.
func (s state) note(msg message, t transcript, id string, shown, sent int) {
	AddNote(s.dir, Note{Time: s.now().UTC().Truncate(time.Millisecond), Client: msg.client.Name, Session: msg.call.Session,
		Transcript: t.path, Tool: msg.call.Tool, Call: t.id, ID: id, About: msg.tool.Subject(), Tokens: shown, Sent: sent})
}

// machine returns the request machine for a message.
func (s state) machine(msg message, k knowledge, records *records, spool ledger.Spooler) existing.Machine {
	m := records.Machine
	m.Client, m.Observers, m.Back = msg.client.Name, append(m.Observers, spool), k.back
	return m
}

// written prints a replacement and tells its machine whether that succeeded. It returns errStays if pruning failed with an error, if
// there is no answer that the client can show, or if it comes too late: the result stays as it is.
func written(ctx context.Context, r *existing.Replacement, err error, out io.Writer, answerOf func() ([]byte, error)) error {
	var answer []byte
	if err == nil {
		answer, err = answerOf()
	}
	return r.Written(ctx, max(len(answer), 1), func() error {
		if err != nil || answer == nil || ctx.Err() != nil {
			return errStays
		}
		_, err := out.Write(answer)
		return err
	})
}
