package hook

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// entry is one line of the hooks' notes: one replaced result.
type entry struct {
	Time       time.Time `json:"time"`
	Client     string    `json:"client"`
	Session    string    `json:"session,omitempty"`
	Transcript string    `json:"transcript,omitempty"`
	Tool       string    `json:"tool,omitempty"`
	Call       string    `json:"call,omitempty"` // the client's id of the tool call
	About      string    `json:"about,omitempty"`
	ID         string    `json:"id,omitempty"` // id of the original
	Tokens     int       `json:"tokens,omitempty"`
	Sent       int       `json:"sent,omitempty"`
}

func ledgerFile(dir string) string { return filepath.Join(dir, "hooks.jsonl") }

// note appends an entry with a single write, so that concurrent hooks do not mix their lines. Write errors
// are ignored: the notes must never cost a result.
func (s state) note(e entry) {
	e.Time = s.now().UTC().Truncate(time.Millisecond)
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	if os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	f, err := os.OpenFile(ledgerFile(s.dir), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(append(line, '\n'))
	_ = f.Close()
}

// entries reads the notes and skips lines that were cut short.
func (s state) entries() []entry {
	f, err := os.Open(ledgerFile(s.dir))
	if err != nil {
		return nil
	}
	defer f.Close()
	var all []entry
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// records holds the hooks' event log and trace, which are beside the ledger.
type records struct {
	log       *os.File
	trace     *trace.File
	write     func(event.Event)
	observers []states.Observer
}

// maxLog is the size in bytes at which a new event log is started. The previous one is kept.
const maxLog = 16 << 20

// openRecords opens the event log and the trace. Hooks work without them.
func openRecords(dir string) *records {
	r := &records{}
	if os.MkdirAll(dir, 0o700) != nil {
		return r
	}
	r.openLog(dir)
	if file, err := trace.Open(filepath.Join(dir, "hook-trace.jsonl"), trace.Options{MaxBytes: maxLog, Keep: 4, Process: trace.Process{PID: os.Getpid(), Transport: "hook"}, Head: r.tellHead}); err == nil {
		r.trace = file
		r.observers = []states.Observer{states.Tracer{Trace: file}}
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

// tellHead writes a head of the trace into the event log.
func (r *records) tellHead(h trace.Head) {
	r.emit(event.New("mcp_pruner.trace_head", "", event.Facts{
		"writer": h.Writer, "seq": int64(h.Seq), "link": h.Link, "key": h.Key, "final": h.Final,
	}))
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
