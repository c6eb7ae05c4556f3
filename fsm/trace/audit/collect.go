package audit

import (
	"fmt"
	"hash/maphash"
	"time"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Selection says which records to count.
type Selection struct {
	Since, Until          time.Time // bounds of their start times, Until excluded; zero: no bound
	Session, Tool, Client string    // "": any
	Run                   string    // id of a run; "": any
	Owner                 string    // subject of the requests; "": any
	Limit                 int       // bytes that clients show of one result; 0: use the limit of each client
}

func (s Selection) takes(e *Entry) bool {
	return !e.Start.Before(s.Since) && (s.Until.IsZero() || e.Start.Before(s.Until)) &&
		(s.Session == "" || s.Session == e.Session) && (s.Tool == "" || s.Tool == e.Tool) &&
		(s.Client == "" || s.Client == e.Client) && (s.Run == "" || s.Run == e.Run) && (s.Owner == "" || s.Owner == e.Owner)
}

// Records reads the trace again and passes the selected records to take. Lines that are not a
// record, or a record without steps, are counted in unreadable and skipped. The saving of a record depends on
// earlier records, so it is computed before the selection. take must copy an entry to keep
// it.
func (t *Trace) Records(s Selection, take func(*Entry, Saving) error) (unreadable int, err error) {
	b, processes := newBalance(s.Limit), make(map[string]process)
	err = scan(t.sources, func() reader { return newReader(nil) }, func(l *line) error {
		switch {
		case l.blank:
			return nil
		case !l.ok || len(l.Micros) == 0:
			unreadable++
			return nil
		case t.skip[placeOf(l)]:
			return nil
		}
		if l.writer != (process{}) {
			processes[l.Writer] = l.writer
		}
		l.Run, l.Transport = processes[l.Writer].run, processes[l.Writer].transport
		saving := b.of(&l.Entry)
		if !s.takes(&l.Entry) {
			return nil
		}
		return take(&l.Entry, saving)
	})
	return unreadable, err
}

// Summarize computes the stats of a selection. It calls each, if not nil, with every
// record.
func (t *Trace) Summarize(s Selection, each func(*Entry, Saving)) (*Collector, error) {
	c := newCollector()
	unreadable, err := t.Records(s, func(e *Entry, saving Saving) error {
		if each != nil {
			each(e, saving)
		}
		return c.add(e, saving)
	})
	if err != nil {
		return nil, err
	}
	if c.stats.Sessions, err = c.sessions.count(); err != nil {
		return nil, err
	}
	if c.stats.Processes, err = c.processes.count(); err != nil {
		return nil, err
	}
	c.stats.Unreadable, c.stats.Verdict = unreadable, t.verdict
	c.Stats = c.finish()
	return c, nil
}

// Collector adds up records. Its memory use does not grow with their number.
type Collector struct {
	Stats Stats
	Paths map[string]*PathCount // by key of the path
	Edges map[Edge]*Durations
	Hours map[time.Time]*Period

	stats     Stats
	sessions  *distinct
	processes *distinct
	outcomes  map[Outcome]int
	tools     map[string]*toolSum
	machines  map[string]int
	whole     Durations
	pruning   Durations
	coarse    bool // Hours holds days
}

// Edge is a transition by a row. Its durations are the times since the previous step.
type Edge struct{ Machine, From, Trigger, To, Row string }

// Period sums up the requests that started within an hour, or within a day if there are too
// many hours.
type Period struct{ Count, Sent, Gross int }

type toolSum struct {
	Tool
	took Durations
}

// maxHours is the maximum number of hours counted separately, about two years. Beyond that,
// Hours holds days.
const maxHours = 20_000

func newCollector() *Collector {
	seed := maphash.MakeSeed()
	hash := func(s string) uint64 { return maphash.String(seed, s) }
	return &Collector{
		stats:    Stats{Tools: []Tool{}, Paths: []PathCount{}, Outcomes: []Outcome{}, Pruner: Pruner{Failures: map[string]int{}, Skipped: map[string]int{}}},
		sessions: newDistinct(hash), processes: newDistinct(hash), outcomes: map[Outcome]int{}, tools: map[string]*toolSum{},
		Paths: map[string]*PathCount{}, machines: map[string]int{}, Edges: map[Edge]*Durations{}, Hours: map[time.Time]*Period{},
	}
}

func (c *Collector) add(e *Entry, saved Saving) error {
	s := &c.stats
	s.Records++
	if s.From.IsZero() || e.Start.Before(s.From) {
		s.From = e.Start
	}
	if e.Start.After(s.To) {
		s.To = e.Start
	}
	if e.Session != "" {
		if err := c.sessions.add(e.Session); err != nil {
			return err
		}
	}
	c.addOutcome(e)
	c.addPath(e)
	if e.IsRequest() {
		s.Requests++
		c.whole.add(e.Took().Microseconds())
		c.addPruner(e)
		c.addSizes(e, saved)
		c.addTool(e, saved)
		c.addHour(e, saved)
	} else {
		s.Runs++
	}
	return c.processes.add(e.Writer)
}

// tool returns the tool's name, or a common name if there are too many: clients may send
// any tool name.
func (c *Collector) tool(e *Entry) string {
	if _, known := c.tools[e.Tool]; !known && len(c.tools) >= maxKinds {
		return others
	}
	return e.Tool
}

func (c *Collector) addOutcome(e *Entry) {
	o := Outcome{Machine: e.Machine, Tool: c.tool(e), Outcome: e.Outcome}
	if e.Outcome != "responded" || !e.IsRequest() {
		o.Why = e.Why
	}
	if _, known := c.outcomes[o]; !known && len(c.outcomes) >= 10*maxKinds {
		o = Outcome{Machine: others, Tool: others, Outcome: others}
	}
	c.outcomes[o]++
}

func (c *Collector) addPath(e *Entry) {
	w := c.Paths[e.Path.Key]
	if w == nil {
		if len(c.Paths) >= maxKinds { // only forged records take so many paths
			return
		}
		w = &PathCount{Machine: e.Machine, Path: e.Path}
		for i, s := range e.Path.Steps {
			if i == 0 {
				w.States = append(w.States, string(s.From))
			}
			w.States, w.Triggers = append(w.States, string(s.To)), append(w.Triggers, string(s.Trigger))
		}
		c.Paths[e.Path.Key] = w
	}
	w.Count++
	c.machines[e.Machine]++
	last := int64(0)
	for i, s := range e.Path.Steps {
		took := e.Micros[i] - last
		last = e.Micros[i]
		if len(c.Edges) < 10*maxKinds {
			into(c.Edges, Edge{e.Machine, string(s.From), string(s.Trigger), string(s.To), s.Row}).add(took)
		}
		if s.From == fsm.CallingPruner {
			c.pruning.add(took)
		}
	}
}

func into[K comparable, V any](of map[K]*V, key K) *V {
	v := of[key]
	if v == nil {
		v = new(V)
		of[key] = v
	}
	return v
}

func (c *Collector) addPruner(e *Entry) {
	p := &c.stats.Pruner
	switch result, why := e.Pruned(); result {
	case Applied:
		p.Applied++
	case Failed:
		p.Failed++
		countKind(p.Failures, why)
	case Cancelled:
		p.Cancelled++
	case Skipped:
		countKind(p.Skipped, why)
	}
	p.Called = p.Applied + p.Failed + p.Cancelled
}

func (c *Collector) addSizes(e *Entry, saved Saving) {
	s := &c.stats
	s.Bytes.Raw += e.Bytes.Raw
	s.Bytes.Sent += e.Bytes.Sent
	s.Tokens.Raw += e.Tokens.Raw
	s.Tokens.Sent += e.Tokens.Sent
	if e.Tokens.Estimated {
		s.Tokens.Estimated++
	}
	s.Saved.Gross += saved.Gross
	s.Saved.Questions += saved.Question
	s.Saved.Rereads += saved.Reread
	s.Saved.Without += saved.Without
	s.Saved.Net += saved.Net()
	if saved.Again {
		s.Saved.RereadsOf++
		s.Saved.OfRereads += saved.Gross
	} else {
		s.Saved.NotShown += saved.Gross - saved.Shown
	}
}

func (c *Collector) addTool(e *Entry, saved Saving) {
	name := c.tool(e)
	t := into(c.tools, name)
	t.Tool.Tool = name
	t.Count++
	if e.Failed() {
		t.Failed++
	}
	t.Raw += e.Tokens.Raw
	t.Sent += e.Tokens.Sent
	t.Gross += saved.Gross
	t.Net += saved.Net()
	t.took.add(e.Took().Microseconds())
}

func (c *Collector) addHour(e *Entry, saved Saving) {
	if !c.coarse && len(c.Hours) >= maxHours {
		c.coarse = true
		hours := c.Hours
		c.Hours = make(map[time.Time]*Period)
		for hour, p := range hours {
			c.period(hour).add(*p)
		}
	}
	c.period(e.Start).add(Period{1, e.Tokens.Sent, max(0, saved.Gross)})
}

func (c *Collector) period(start time.Time) *Period {
	if c.coarse {
		return into(c.Hours, start.UTC().Truncate(24*time.Hour))
	}
	return into(c.Hours, start.UTC().Truncate(time.Hour))
}

func (p *Period) add(other Period) {
	p.Count += other.Count
	p.Sent += other.Sent
	p.Gross += other.Gross
}

// ParseTime parses a bound of a selection: a duration before now, a day or a time.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is neither a duration (24h) nor a day (2026-11-21) nor a time (2026-11-21T04:00:00Z)", text)
}
