package audit

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// named holds the ids of the requests that an event log names. A call is noted before its tool runs and before the log
// has it, so each of them is in the trace or in a side file.
type named struct {
	seed  maphash.Seed
	ids   *sorter
	texts map[uint64]string // ids of the first requests, for messages

	starts int  // servers that said that they were ready
	failed bool // a process said that it could not write its trace
}

// maxNamed is the number of ids that are kept as text.
const maxNamed = 1 << 12

// requestEvents are the events after which a record of the request must exist: its tool was started, or it was answered.
var requestEvents = map[string]bool{"tool.exec_start": true, "tool.respond_ok": true}

var textRequest = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(` (tool\.exec_start|tool\.respond_ok) request_id=(\S+)`)
})

func newNamed() *named {
	return &named{seed: maphash.MakeSeed(), ids: newSorter(), texts: make(map[uint64]string)}
}

// read takes what a line of an event log says.
func (n *named) read(text string) error {
	n.failed = n.failed || strings.Contains(text, "mcp_pruner.trace_failed")
	if m := textRequest().FindStringSubmatch(text); m != nil {
		return n.add(m[2])
	}
	at := strings.IndexByte(text, '{')
	if at < 0 || !strings.Contains(text, `"request_id"`) && !strings.Contains(text, "mcp_pruner.ready") {
		n.starts += strings.Count(text, "mcp_pruner.ready")
		return nil
	}
	var line struct {
		Event   string `json:"event"`
		Request string `json:"request_id"`
	}
	if json.Unmarshal([]byte(text[at:]), &line) != nil {
		return nil
	}
	if line.Event == "mcp_pruner.ready" {
		n.starts++
	}
	if !requestEvents[line.Event] || line.Request == "" {
		return nil
	}
	return n.add(line.Request)
}

func (n *named) add(id string) error {
	hash := maphash.String(n.seed, id)
	if len(n.texts) < maxNamed {
		n.texts[hash] = id
	}
	return n.ids.add(mark{id: hash})
}

// markNamed adds the requests that the log names, and those that are only in side files, to the marks of the trace.
func (v *verifier) markNamed() error {
	if v.Options.Heads == nil {
		return nil
	}
	var failed error
	add := func(id uint64, flag markFlags) {
		if failed == nil {
			failed = v.ids.add(mark{id: id, at: ^place(0), flags: flag})
		}
	}
	for _, s := range v.sources {
		_ = trace.Leftovers(s.Name, func(left trace.Left) bool {
			for i := range left.Records {
				add(maphash.String(v.seed, left.Records[i].ID), inNotes)
			}
			return false
		})
	}
	n := v.Options.Heads.named
	if err := n.ids.groups(func(group []mark) { add(group[0].id, inLog) }); err != nil {
		return err
	}
	return failed
}

// unrecorded counts a request that the log names and that has no record.
func (v *verifier) unrecorded(id uint64) {
	v.absent++
	if text, ok := v.Options.Heads.named.texts[id]; ok && v.example == "" {
		v.example = text
	}
}

// checkNamed reports the requests of the log that have no record. It is no proof of a removal if records were removed
// because of their age or could not be written, or if a server in the log kept no trace.
func (v *verifier) checkNamed() {
	if v.absent == 0 {
		return
	}
	h, example := v.Options.Heads, ""
	if v.example != "" {
		example = ", such as " + v.example
	}
	text := fmt.Sprintf("the log names %s that no record here describes%s", terminal.Count(v.absent, "request"), example)
	if h.removed || h.named.failed || v.verdict.Lost > 0 || h.named.starts > len(h.started) {
		v.note("%s: records were removed because of their age, could not be written, or belong to a server without a trace", text)
		v.verdict.Unproved++
		return
	}
	v.verdict.Found++
	v.verdict.Problems = append(v.verdict.Problems, text+": records were taken out")
}
