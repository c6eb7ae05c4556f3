package states

import (
	"crypto/sha256"
	"encoding/hex"

	"mcp-pruner/fsm/trace"
	"mcp-pruner/tools"
)

// Trace takes records. *trace.File is one.
type Trace interface {
	// Note notes an answer that is about to be written, in no time.
	Note(*trace.Record) trace.Note
	// Append takes the record of a call that has ended.
	Append(*trace.Record, trace.Note)
}

// Tracer is the observer that keeps a trace.
type Tracer struct {
	Trace   Trace
	Version string // of this program
	Detail  bool   // records also say what calls were about
}

// maxDetailBytes is how much of a detail a record keeps.
const maxDetailBytes = 64 << 10

// Answering implements [Observer]. The note tells what the process was about to answer,
// should it be killed before the record is written.
func (t Tracer) Answering(d *Delivery) {
	r := new(trace.Record)
	t.fill(r, d)
	d.note = t.Trace.Note(r)
}

// Ended implements [Observer].
func (t Tracer) Ended(d *Delivery) {
	r := new(trace.Record)
	t.fill(r, d)
	switch {
	case d.Err != nil:
		r.Answer, r.Bytes, r.Opaque = trace.Unwritten, trace.Bytes{}, false
	case d.Wire > 0:
		r.Tokens.Raw, r.Tokens.Sent, r.Tokens.Question = d.Tokens()
		r.Tokens.Estimated = r.Tokens != trace.Tokens{}
	}
	t.Trace.Append(r, d.note)
}

func (t Tracer) fill(r *trace.Record, d *Delivery) {
	r.Take(d.Machine)
	r.Server, r.Session, r.Client, r.Tool, r.Parent = t.Version, d.Session, d.Client, d.Tool, d.Parent
	if d.Wire > 0 {
		addSizes(r, d)
	}
	r.Subject, r.Part = d.Key, d.Subject.Part
	if t.Detail && d.Key != "" {
		s := d.Subject
		r.Detail = &trace.Detail{
			Question: cut(d.Question, maxDetailBytes), Path: cut(s.Path, maxDetailBytes),
			Command: cut(s.Command, maxDetailBytes), Pattern: cut(s.Pattern, maxDetailBytes),
		}
	}
}

// addSizes says what was sent and what was saved. A model reads the notice too; the
// one it would have read without any pruning may be another.
func addSizes(r *trace.Record, d *Delivery) {
	raw, notice := d.Raw()
	r.Bytes = trace.Bytes{Raw: shownBytes(raw, notice), Sent: shownBytes(d.Text, d.Notice), Wire: d.Wire}
	r.Opaque = d.Opaque
	if !d.IsError {
		r.Bytes.Beside = r.Bytes.Raw - d.Pruning.RawBytes
		if d.Pruning.PrunedBytes != nil {
			r.Bytes.BesideSent = r.Bytes.Sent - *d.Pruning.PrunedBytes
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
	subject = s.pseudonym(cut(c.request.Client, maxNameBytes), c.toolName, about)
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

// pseudonym turns a subject into a name that means something within this session and to
// nobody else: the key never leaves the process. The range does not count.
func (s *Session) pseudonym(client, tool string, about tools.Subject) string {
	s.introduce()
	text := append(make([]byte, 0, 256), s.key[:]...)
	for _, part := range []string{client, tool, about.Path, about.Dir, about.Command, about.Pattern, about.PruneID, about.Options} {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
