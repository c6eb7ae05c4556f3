package trace

import (
	"bytes"
	"errors"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// The errors of a line that is not a valid record.
var (
	// ErrTorn: the line ends in the middle of a record, because its writer was killed or
	// the disk was full.
	ErrTorn = errors.New("the line breaks off in the middle of a record")
	// ErrChecksum: the line was changed after it was written.
	ErrChecksum = errors.New("the checksum does not fit the line")
	// ErrLineEnd: another program changed the line ends to CR LF.
	ErrLineEnd = errors.New("the line ends in CR LF, and those of a trace end in LF: something has rewritten the file")
	// ErrSpelling: the line decodes as a record but does not have the unique encoding.
	ErrSpelling = errors.New("the line is not spelled as records are")
	// ErrSchema: this program does not know the line's version of the format.
	ErrSchema = errors.New("unknown schema version")
)

// Decoder decodes records. It interns strings that occur often, so use one decoder for many
// lines. It is not safe for concurrent use.
type Decoder struct {
	known map[string]string
	again []byte
	in    []byte
	at    int
	bad   bool

	strict, cut bool // see torn
}

// NewDecoder makes a decoder.
func NewDecoder() *Decoder { return &Decoder{known: make(map[string]string)} }

// Decode decodes one line, without its newline, and verifies its checksum. The error is one
// of those above, or says why the line is not JSON.
func (d *Decoder) Decode(line []byte, r *Record) error {
	d.in, d.at, d.bad = line, 0, false
	*r = Record{Steps: r.Steps[:0]}
	d.record(r)
	if d.bad || d.at != len(line) {
		return misread(line)
	}
	sum := r.Sum
	d.again = AppendRecord(d.again[:0], r)
	written := d.again[:len(d.again)-1]
	if !slices.IsSortedFunc(r.Pruning, compareValues) {
		return ErrSpelling
	}
	if bytes.Equal(written, line) {
		return nil
	}
	// Only the checksum differs: report ErrChecksum.
	if n := len(line) - len(sum) - 2; n > 0 && n <= len(written) && bytes.Equal(written[:n], line[:n]) {
		return ErrChecksum
	}
	return ErrSpelling
}

func (d *Decoder) record(r *Record) {
	d.want(`{"v":`)
	if d.int() != SchemaVersion {
		d.bad = true
		return
	}
	r.Server = d.commonAt(`,"server":`)
	r.Machine = d.commonAt(`,"machine":`)
	r.Table = d.commonAt(`,"table":`)
	r.Writer = d.commonAt(`,"writer":`)
	r.Seq = uint64(d.intAt(`,"seq":`))
	r.Prev = d.stringIf(`,"prev":`)
	r.Lost = int(d.intIf(`,"lost":`))
	d.process(r)
	r.Recovered = d.commonIf(`,"recovered":`)
	r.ID = d.stringAt(`,"id":`)
	r.Session = d.commonIf(`,"session":`)
	r.Client = d.commonIf(`,"client":`)
	r.Tool = d.commonIf(`,"tool":`)
	r.Parent = d.stringIf(`,"traceparent":`)
	r.Owner = d.commonIf(`,"owner":`)
	r.User = d.commonIf(`,"forwarded_user":`)
	d.start(r)
	d.steps(r)
	r.Outcome = d.commonAt(`,"outcome":`)
	d.pruning(r)
	d.size(r)
	r.Subject = d.commonIf(`,"subject":`)
	r.Part = d.has(`,"part":true`)
	d.detail(r)
	r.Opaque = d.has(`,"opaque":true`)
	r.Answer = Answer(d.commonIf(`,"answer":`))
	d.ended(r)
	d.seal(r)
	d.checkSum(r)
	d.want(`}`)
}

func (d *Decoder) process(r *Record) {
	if !d.has(`,"process":{"key":`) {
		return
	}
	p := &Process{Key: d.string()}
	p.PID = int(d.intAt(`,"pid":`))
	p.Run, p.Host, p.User, p.Root = d.commonIf(`,"run":`), d.commonIf(`,"host":`), d.commonIf(`,"user":`), d.commonIf(`,"root":`)
	p.Transport = d.commonIf(`,"transport":`)
	d.want(`}`)
	r.Process = p
}

func (d *Decoder) ended(r *Record) {
	if !d.has(`,"ended":{"graceful":`) {
		return
	}
	r.Ended = new(Ended)
	r.Ended.Graceful = d.bool()
	d.want(`,"kill_escalated":`)
	r.Ended.Escalated = d.bool()
	d.want(`}`)
}

func (d *Decoder) bool() bool {
	if d.has(`true`) {
		return true
	}
	d.want(`false`)
	return false
}

// seal decodes the seal and verifies its signature.
func (d *Decoder) seal(r *Record) {
	if !d.has(`,"seal":{"by":`) {
		return
	}
	s := &Seal{By: d.string()}
	s.Next = d.stringAt(`,"next":`)
	end := d.at
	s.Sig = d.stringAt(`,"sig":`)
	d.want(`}`)
	if !d.bad && !d.strict {
		s.verify(d.in[:end])
	}
	r.Seal = s
}

func (d *Decoder) checkSum(r *Record) {
	end := d.at
	d.want(`,"sum":`)
	d.refuse(d.strict && !d.beginsSum(end))
	r.Sum = d.string()
}

func (d *Decoder) start(r *Record) {
	d.want(`,"start":`)
	d.refuse(d.strict && !d.beginsTime())
	t, err := parseStart(string(d.raw()))
	if err != nil {
		d.bad = true
	}
	r.Start = t
}

func (d *Decoder) steps(r *Record) {
	d.want(`,"steps":[`)
	for !d.bad && !d.has(`]`) {
		if len(r.Steps) > 0 {
			d.want(`,`)
		}
		d.step(r)
	}
}

func (d *Decoder) step(r *Record) {
	var s Step
	if n := len(r.Steps); n < cap(r.Steps) { // reuse the event list of a previous step
		s.Events = r.Steps[:n+1][n].Events[:0]
	}
	s.From = fsm.State(d.commonAt(`{"from":`))
	s.Trigger = fsm.Trigger(d.commonAt(`,"trigger":`))
	s.To = fsm.State(d.commonAt(`,"to":`))
	s.Row = d.commonAt(`,"row":`)
	d.want(`,"events":[`)
	for !d.bad && !d.has(`]`) {
		if len(s.Events) > 0 {
			d.want(`,`)
		}
		s.Events = append(s.Events, d.common())
	}
	s.Micros = d.intAt(`,"us":`)
	s.Why = d.commonIf(`,"why":`)
	d.want(`}`)
	r.Steps = append(r.Steps, s)
}

func (d *Decoder) pruning(r *Record) {
	if d.has(`,"pruning":{`) {
		d.values(r, "")
		d.refuse(len(r.Pruning) == 0)
	}
}

// values decodes the members of an object. Members of an inner object are named
// outer.inner.
func (d *Decoder) values(r *Record, outer string) {
	for first := true; !d.bad && !d.has(`}`); first = false {
		d.refuse(d.strict && !slices.IsSortedFunc(r.Pruning, compareValues))
		if !first {
			d.want(`,`)
		}
		field := d.common()
		if outer != "" {
			field = d.intern([]byte(outer + "." + field))
		}
		d.want(`:`)
		switch {
		case outer == "" && d.has(`{`):
			d.values(r, field)
		case d.has(`true`):
			r.Pruning = append(r.Pruning, Value{field, true})
		case d.has(`false`):
			r.Pruning = append(r.Pruning, Value{field, false})
		case d.at < len(d.in) && d.in[d.at] == '"':
			r.Pruning = append(r.Pruning, Value{field, d.common()})
		default:
			r.Pruning = append(r.Pruning, Value{field, d.int()})
		}
	}
}

func (d *Decoder) size(r *Record) {
	if d.has(`,"bytes":{"raw":`) {
		r.Bytes.Raw = int(d.int())
		r.Bytes.Sent = int(d.intAt(`,"sent":`))
		r.Bytes.Wire = int(d.intAt(`,"wire":`))
		r.Bytes.Beside = int(d.intIf(`,"beside":`))
		r.Bytes.BesideSent = int(d.intIf(`,"beside_sent":`))
		d.refuse(r.Bytes == Bytes{})
		d.want(`}`)
	}
	if d.has(`,"tokens":{"raw":`) {
		r.Tokens.Raw = int(d.int())
		r.Tokens.Sent = int(d.intAt(`,"sent":`))
		r.Tokens.Question = int(d.intIf(`,"question":`))
		r.Tokens.Estimated = d.has(`,"estimated":true`)
		d.refuse(r.Tokens == Tokens{})
		d.want(`}`)
	}
}

func (d *Decoder) detail(r *Record) {
	if !d.has(`,"detail":{"question":`) {
		return
	}
	r.Detail = &Detail{Question: d.string(), Path: d.stringIf(`,"path":`), Command: d.stringIf(`,"command":`), Pattern: d.stringIf(`,"pattern":`)}
	d.want(`}`)
}
