package states

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Trace stores records. *trace.File implements it.
type Trace interface {
	// Note notes a call whose tool is about to run. Renote replaces the note of a call whose answer is about to be
	// written; 0 is no note. Neither may block.
	Note(*trace.Record) trace.Note
	Renote(trace.Note, *trace.Record) trace.Note
	// Append queues the record of a call that has ended.
	Append(*trace.Record, trace.Note)
}

// Tracer is the observer that writes a trace.
type Tracer struct {
	Trace   Trace
	Version string // of this program
	Detail  bool   // records also have the question, path, command and pattern of the call
}

// maxDetailBytes bounds each text in a record's detail.
const maxDetailBytes = 64 << 10

// Starting implements [Starter]. The note preserves that the call was under way if the process ends before the call
// does.
func (t Tracer) Starting(d *Delivery) {
	r := new(trace.Record)
	t.fill(r, d)
	d.note = t.Trace.Note(r)
}

// Answering implements [Observer]. The note preserves the answer's record if the process is
// killed before the record is written.
func (t Tracer) Answering(d *Delivery) {
	r := new(trace.Record)
	t.fill(r, d)
	d.note = t.Trace.Renote(d.note, r)
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

// addSizes sets the sizes of the raw and the sent answer. A model reads the notice too, and
// without pruning the notice may have been different.
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

// session returns the call's session. All calls without one share one for their records:
// whether such a call asks again for pruned output cannot be known otherwise.
func (c *Execution) session() *Session {
	if c.request.Session == nil {
		return &c.pipeline.alone
	}
	return c.request.Session
}

// subject returns the pseudonym of the call's subject. A call that recovers pruned output
// has the subject of the pruned call.
func (s *Session) subject(c *Execution, about tools.Subject) string {
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

// keepOriginal remembers the subject of the original with a prune id.
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

// pseudonym returns a name for a subject that means something within this session only,
// because the key never leaves the process. The range of the subject is ignored.
func (s *Session) pseudonym(client, tool string, about tools.Subject) string {
	s.introduce()
	text := append(make([]byte, 0, 256), s.key[:]...)
	for _, part := range []string{client, tool, about.Path, about.Dir, about.Command, about.Pattern, about.PruneID, about.Options} {
		text = append(append(text, part...), 0)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
