package states

import (
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
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
	r.Owner, r.User = d.Owner, d.User
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
