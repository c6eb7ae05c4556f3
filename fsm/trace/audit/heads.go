package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// Heads are the heads of each process, and what else the event log says about the trace.
type Heads struct {
	of      map[string][]trace.Head
	started map[string]bool // processes whose first head is known
	removed bool            // files of the trace were removed because of their age
	named   *named
}

var errNoHead = errors.New(`there is no head in it: it is neither an event log with mcp_pruner.trace_head nor the output of "trace heads"`)

// ReadHeads reads heads from an event log, as JSON or text, or from the output of `trace
// heads`. It skips all other lines.
func ReadHeads(in io.Reader) (*Heads, error) {
	h := &Heads{of: make(map[string][]trace.Head), started: make(map[string]bool), named: newNamed()}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLineBytes)
	for lines.Scan() {
		text := lines.Text()
		if one, ok := headOf(text); ok {
			h.of[one.Writer] = append(h.of[one.Writer], one)
			h.started[one.Writer] = h.started[one.Writer] || one.Seq == 0
		} else if err := h.named.read(text); err != nil {
			return nil, err
		}
		h.removed = h.removed || strings.Contains(text, "mcp_pruner.trace_removed")
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(h.of) == 0 {
		return nil, errNoHead
	}
	return h, nil
}

var textHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`mcp_pruner\.trace_head writer=([0-9a-f]+) seq=(\d+) link=("?[0-9a-f]*"?) key=(\S+) final=(true|false)`)
})

func headOf(text string) (trace.Head, bool) {
	if m := textHead().FindStringSubmatch(text); m != nil {
		seq, err := strconv.ParseUint(m[2], 10, 64)
		return trace.Head{Writer: m[1], Seq: seq, Link: strings.Trim(m[3], `"`), Key: strings.Trim(m[4], `"`), Final: m[5] == "true"}, err == nil
	}
	var line struct {
		trace.Head
		Event string     `json:"event"`
		Data  trace.Head `json:"data"`
	}
	at := strings.IndexByte(text, '{') // clients put a prefix before a server's lines
	if at < 0 || json.Unmarshal([]byte(text[at:]), &line) != nil {
		return trace.Head{}, false
	}
	if line.Event == "mcp_pruner.trace_head" {
		return line.Data, line.Data.Writer != ""
	}
	return line.Head, line.Event == "" && line.Writer != "" && line.Key != ""
}

// checkLine compares a line with the heads of its process.
func (h *Heads) checkLine(l *line) string {
	if h == nil {
		return ""
	}
	known, ok := h.of[l.Writer]
	if !ok {
		return fmt.Sprintf("process %s is in no head", l.Writer)
	}
	for _, one := range known {
		switch {
		case one.Seq == 0 && l.seq == 1 && l.key != one.Key:
			return fmt.Sprintf("process %s started with another key", l.Writer)
		case one.Seq == l.seq && l.link != one.Link:
			return fmt.Sprintf("it is not the line number %d that process %s wrote", l.seq, l.Writer)
		case one.Final && l.seq > one.Seq:
			return fmt.Sprintf("process %s had ended after its line %d", l.Writer, one.Seq)
		}
	}
	if l.recovered != "" {
		return h.checkRecovered(l.recovered)
	}
	return ""
}

// checkRecovered checks a recovered record: a process that ended normally leaves none.
func (h *Heads) checkRecovered(writer string) string {
	known, ok := h.of[writer]
	if !ok {
		return fmt.Sprintf("it was recovered for process %s, which is in no head", writer)
	}
	if slices.ContainsFunc(known, func(one trace.Head) bool { return one.Final }) {
		return fmt.Sprintf("it was recovered for process %s, which ended in order", writer)
	}
	return ""
}

// last returns the number of lines that a process is known to have written, and whether it wrote no more.
func (h *Heads) last(writer string) (seq uint64, final bool) {
	for _, one := range h.of[writer] {
		seq, final = max(seq, one.Seq), final || one.Final
	}
	return seq, final
}

// checkEnd compares the ends of all chains with the heads.
func (h *Heads) checkEnd(writers map[string]*writer) (problems []string) {
	if h == nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(h.of)) {
		last, _ := h.last(id)
		w := writers[id]
		switch {
		case w == nil && last > 0 && !h.removed:
			problems = append(problems, fmt.Sprintf("process %s wrote at least %s, and none is here", id, terminal.Count(int(last), "line")))
		case w == nil:
		case w.seq < last:
			problems = append(problems, fmt.Sprintf("process %s wrote at least %s, and the last here is number %d: the end was cut off",
				id, terminal.Count(int(last), "line"), w.seq))
		case !w.whole && !h.removed:
			problems = append(problems, fmt.Sprintf("the first lines of process %s are not here, and no file was removed because of its age", id))
		case w.unsealed > 0 && w.seq-uint64(w.unsealed) < last: // the head was reported after the seal
			problems = append(problems, fmt.Sprintf("at the end of process %s %s without a seal", id, areSome(w.unsealed, "line")))
		}
	}
	return problems
}

// areSome returns a phrase such as "is 1 line" or "are 2 lines".
func areSome(n int, thing string) string {
	return terminal.Plural(n, "is ", "are ") + terminal.Count(n, thing)
}
