package states

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"unicode/utf8"

	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// TokenCounter says about how many tokens a text is.
type TokenCounter struct {
	Quick func(text string) int // takes next to no time
	Well  func(text string) int // takes microseconds, where something was saved
}

// Names come from clients; a record keeps this much of one.
const maxNameBytes = 128

// Answering tells the call that its answer of so many bytes is about to be
// written. The record is made here, so that no answered call is missing from the
// trace however the process ends.
func (c *Call) Answering(wire int) {
	c.wire = wire
	c.record(false)
}

// scratch holds records whose memory can be used again.
var scratch = sync.Pool{New: func() any { return new(fsm.Record) }}

// record hands the call's record to the pipeline. A call that waits for its answer
// to be written has its last step ahead of it: it is recorded as taken, and a
// record that amends it follows when the write fails. No bug in here may cost a
// client its answer.
func (c *Call) record(amends bool) {
	if c.pipeline.Record == nil {
		return
	}
	defer func() { _ = recover() }()
	c.recorded = true
	r := scratch.Get().(*fsm.Record)
	c.fill(r, amends)
	c.pipeline.Record(*r)
	scratch.Put(r)
}

func (c *Call) fill(r *fsm.Record, amends bool) {
	metadata := c.pruning.appendTo(r.Pruning[:0], c.pipeline.RecordDetail)
	if step, ok := c.machine.Ahead(fsm.Written); ok {
		r.Take(c.machine, metadata, step)
	} else {
		r.Take(c.machine, metadata)
	}
	r.Amends = amends
	r.Session = c.request.Session.ID()
	r.Client, r.Tool = cut(c.request.Client), cut(c.toolName)
	if c.wire > 0 && !amends { // else nothing reached the client
		c.addSizes(r)
	}
	c.addSubject(r)
}

// appendTo appends the metadata in the names of the tables. The message of an
// error may quote what the call was about.
func (p *PruningMetadata) appendTo(values []fsm.Value, detail bool) []fsm.Value {
	add := func(field string, value any) { values = append(values, fsm.Value{Field: field, Value: value}) }
	add("attempted", p.Attempted)
	add("applied", p.Applied)
	add("fallback", p.Fallback)
	add("raw_bytes", p.RawBytes)
	if p.Reason != "" {
		add("reason", p.Reason)
	}
	if p.PrunedBytes != nil {
		add("pruned_bytes", *p.PrunedBytes)
	}
	if p.PrunerDurationMS != nil {
		add("pruner_duration_ms", *p.PrunerDurationMS)
	}
	if p.Error != nil {
		add("error.code", p.Error.Code)
	}
	if p.Error != nil && detail {
		add("error.message", p.Error.Message)
	}
	return values
}

// keepRaw remembers the output as it is before pruning, if there will be a record.
func (c *Call) keepRaw() {
	if c.pipeline.Record != nil {
		c.raw = c.output
	}
}

// addSizes says what was sent and what was saved.
func (c *Call) addSizes(r *fsm.Record) {
	raw := c.sent
	if c.raw != nil {
		raw = c.raw.Text()
	}
	r.Bytes = fsm.TraceBytes{Raw: len(raw), Sent: len(c.sent), Wire: c.wire}
	counter := c.pipeline.Tokens
	switch {
	case counter == nil:
		return
	case c.raw != nil:
		r.Tokens = fsm.TraceTokens{Raw: counter.Well(raw), Sent: counter.Well(c.sent), Estimated: true}
	case c.sent != "":
		n := counter.Quick(c.sent)
		r.Tokens = fsm.TraceTokens{Raw: n, Sent: n, Estimated: true}
	}
	if c.call != nil && c.call.FocusQuestion() != "" {
		r.Tokens.Question = max(1, counter.Quick(c.call.FocusQuestion()))
	}
}

// addSubject says which calls of the session are about the same thing, without
// saying what that is, unless the trace is to say it.
func (c *Call) addSubject(r *fsm.Record) {
	about, ok := c.call.(tools.Subjecter)
	if !ok {
		return
	}
	s := about.Subject()
	r.Subject = c.request.Session.veil(c.toolName, s)
	if c.pipeline.RecordDetail {
		r.Detail = &fsm.TraceDetail{
			Question: c.call.FocusQuestion(), Path: s.Path, Command: s.Command, Pattern: s.Pattern,
		}
	}
}

// veil turns a subject into a name that means something within this session and
// to nobody else: the key never leaves the process.
func (s *Session) veil(tool string, about tools.Subject) string {
	if s == nil {
		return ""
	}
	s.introduce()
	text := append(make([]byte, 0, 256), s.key[:]...)
	for _, part := range []string{tool, about.Path, about.Dir, about.Command, about.Pattern} {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// cut shortens a name that came from a client, at the end of a rune.
func cut(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	n := maxNameBytes
	for !utf8.RuneStart(name[n]) {
		n--
	}
	return name[:n]
}
