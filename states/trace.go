package states

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"unicode/utf8"

	"mcp-pruner/fsm"
	"mcp-pruner/tools"
)

// Trace takes records, each just before the answer it is of goes out, and one that
// amends it when that fails. It must not keep them.
type Trace interface {
	Append(*fsm.Record)
	Settle() // the answer is out, and there is time
}

// TokenCounter says about how many tokens a text is.
type TokenCounter struct {
	Quick func(text string) int // takes next to no time
	Well  func(text string) int // takes microseconds, where something was saved
}

// What comes from clients can be of any size; a record keeps this much of it. The
// longest command that is allowed is kept whole unless it is not ASCII.
const (
	maxNameBytes   = 128
	maxDetailBytes = 64 << 10
)

// Answering tells the call that its answer of so many bytes is about to be
// written. The record is made here, so that no answered call is missing from the
// trace however the process ends.
func (c *Call) Answering(wire int) {
	c.wire = wire
	c.record(false)
}

// scratch holds records whose memory can be used again.
var scratch = sync.Pool{New: func() any { return new(fsm.Record) }}

// record hands the call's record to the trace. A call that waits for its answer
// to be written has its last step ahead of it: it is recorded as taken, and a
// record that amends it follows when the write fails. No bug in here may cost a
// client its answer.
func (c *Call) record(amends bool) {
	if c.pipeline.Trace == nil {
		return
	}
	defer func() { _ = recover() }()
	c.recorded = true
	r := scratch.Get().(*fsm.Record)
	c.fill(r, amends)
	c.pipeline.Trace.Append(r)
	scratch.Put(r)
}

// settleTrace lets the trace prepare for the next record. No bug in there may cost
// the server its life.
func (c *Call) settleTrace() {
	if c.pipeline.Trace == nil {
		return
	}
	defer func() { _ = recover() }()
	c.pipeline.Trace.Settle()
}

func (c *Call) fill(r *fsm.Record, amends bool) {
	if step, ok := c.machine.Ahead(fsm.Written); ok {
		r.Take(c.machine, c.pipeline.TraceDetail, step)
	} else {
		r.Take(c.machine, c.pipeline.TraceDetail)
	}
	r.Amends = amends
	r.Session = c.request.Session.ID()
	r.Client, r.Tool = cut(c.request.Client, maxNameBytes), cut(c.toolName, maxNameBytes)
	if c.wire > 0 && !amends { // else nothing reached the client
		c.addSizes(r)
	}
	c.addSubject(r)
}

// keepRaw remembers the output as it is before pruning, if there will be a record.
func (c *Call) keepRaw() {
	if c.pipeline.Trace != nil {
		c.raw = c.output
	}
}

// addSizes says what was sent and what was saved. A model reads the notice too; the
// one it would have read without any pruning may be another.
func (c *Call) addSizes(r *fsm.Record) {
	raw, notice := c.sent, c.notice
	if c.raw != nil {
		raw, notice = c.raw.Text(), noticeOf(c.raw)
	}
	r.Bytes = fsm.TraceBytes{Raw: shownBytes(raw, notice), Sent: shownBytes(c.sent, c.notice), Wire: c.wire}
	if c.pipeline.Tokens != nil {
		r.Tokens = c.tokens(c.pipeline.Tokens, raw, notice)
	}
}

// brackets stand around a notice.
const brackets = len("[]")

func shownBytes(text, notice string) int {
	if notice == "" {
		return len(text)
	}
	return len(text) + len(notice) + brackets
}

func (c *Call) tokens(about *TokenCounter, raw, rawNotice string) (t fsm.TraceTokens) {
	shown := func(count func(string) int, text, notice string) int {
		n := count(text)
		if notice != "" {
			n += about.Quick(notice) + brackets
		}
		return n
	}
	if c.raw != nil {
		t.Raw, t.Sent = shown(about.Well, raw, rawNotice), shown(about.Well, c.sent, c.notice)
	} else {
		t.Raw = shown(about.Quick, raw, rawNotice)
		t.Sent = t.Raw
	}
	if c.call != nil {
		t.Question = about.Quick(c.call.FocusQuestion())
	}
	t.Estimated = t != fsm.TraceTokens{}
	return t
}

// addSubject says which calls of the session are about the same thing, without
// saying what that is, unless the trace is to say it.
func (c *Call) addSubject(r *fsm.Record) {
	about, ok := c.call.(tools.Subjecter)
	if !ok {
		return
	}
	s := about.Subject()
	r.Subject, r.Part = c.session().subject(c, s), s.Part
	if c.pipeline.TraceDetail {
		r.Detail = &fsm.TraceDetail{
			Question: cut(c.call.FocusQuestion(), maxDetailBytes), Path: cut(s.Path, maxDetailBytes),
			Command: cut(s.Command, maxDetailBytes), Pattern: cut(s.Pattern, maxDetailBytes),
		}
	}
}

// session is the call's; calls that stand alone share one, for their records only:
// nobody can tell whether one of them asks for what another one's answer left out.
func (c *Call) session() *Session {
	if c.request.Session == nil {
		return &c.pipeline.alone
	}
	return c.request.Session
}

// subject names what a call is about. To recover what was pruned is to be about
// what the pruned call was about.
func (s *Session) subject(c *Call, about tools.Subject) string {
	s.mu.Lock()
	subject, known := s.originals[about.PruneID]
	s.mu.Unlock()
	if known {
		return subject
	}
	subject = s.veil(cut(c.request.Client, maxNameBytes), c.toolName, about)
	if c.pruneID != "" {
		s.keepOriginal(c.pruneID, subject)
	}
	return subject
}

// keepOriginal remembers what the original under a prune id is about.
func (s *Session) keepOriginal(id, subject string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.originals == nil {
		s.originals = make(map[string]string)
	}
	if len(s.ids) == remembered {
		delete(s.originals, s.ids[0])
		s.ids = append(s.ids[:0], s.ids[1:]...)
	}
	s.ids = append(s.ids, id)
	s.originals[id] = subject
}

// veil turns a subject into a name that means something within this session and
// to nobody else: the key never leaves the process.
func (s *Session) veil(client, tool string, about tools.Subject) string {
	s.introduce()
	text := append(make([]byte, 0, 256), s.key[:]...)
	for _, part := range []string{client, tool, about.Path, about.Dir, about.Command, about.Pattern, about.PruneID} {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// cut shortens a text that came from a client, at the end of a rune.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
