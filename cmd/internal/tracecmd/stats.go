package tracecmd

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"mcp-pruner/fsm"
)

// Stats is what a trace comes to.
type Stats struct {
	Records    int       `json:"records"`
	Requests   int       `json:"requests"`
	Runs       int       `json:"runs"`
	Sessions   int       `json:"sessions"`
	Processes  int       `json:"processes"`
	Unreadable int       `json:"unreadable_lines"`
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`

	Outcomes []Outcome `json:"outcomes"`
	Tools    []Tool    `json:"tools"`
	Paths    []Path    `json:"paths"`
	Latency  Latency   `json:"latency"` // of whole requests
	States   []State   `json:"states"`
	Pruner   Pruner    `json:"pruner"`
	Bytes    Sizes     `json:"bytes"`
	Tokens   Sizes     `json:"tokens"` // o200k
	Saved    Saved     `json:"saved_tokens"`

	edges map[edge]*Edge
}

// Outcome counts requests, or runs, of one tool that ended one way.
type Outcome struct {
	Machine string `json:"machine"`
	Tool    string `json:"tool"`
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`
	Count   int    `json:"count"`
}

// Tool sums up one tool.
type Tool struct {
	Tool    string  `json:"tool"`
	Count   int     `json:"count"`
	Failed  int     `json:"failed"`
	Raw     int     `json:"raw_tokens"`
	Sent    int     `json:"sent_tokens"`
	Net     int     `json:"net_saved_tokens"`
	Latency Latency `json:"latency"`
}

// Path is a way through a machine.
type Path struct {
	Machine  string   `json:"machine"`
	States   []string `json:"states"`
	Triggers []string `json:"triggers"`
	Count    int      `json:"count"`
	Share    float64  `json:"share"` // of the machine's records
}

// Latency is in microseconds.
type Latency struct {
	P50 int64 `json:"p50_us"`
	P95 int64 `json:"p95_us"`
	P99 int64 `json:"p99_us"`
	Max int64 `json:"max_us"`
}

// State is the time spent in a state.
type State struct {
	Machine string `json:"machine"`
	State   string `json:"state"`
	Count   int    `json:"count"`
	Latency
}

// Edge is a transition and the time from the one before it.
type Edge struct {
	Count   int
	Latency Latency
}

type edge struct{ machine, from, trigger string }

// Pruner says how the pruner fared: each call was applied, failed or was cancelled.
type Pruner struct {
	Called    int            `json:"called"`
	Applied   int            `json:"applied"`
	Failed    int            `json:"failed"`
	Cancelled int            `json:"cancelled"` // before the pruner had answered
	Failures  map[string]int `json:"failures"`  // by reason
	Skipped   map[string]int `json:"skipped"`   // requests it was not called for, by reason
	Latency   Latency        `json:"latency"`
}

// Sizes is what came in from the tools and went out to the client.
type Sizes struct {
	Raw       int `json:"raw"`
	Sent      int `json:"sent"`
	Estimated int `json:"estimated_records,omitempty"` // whose tokens were not counted
}

// Saved is the balance in tokens. Gross is what pruning took away, markers counted
// against it; net is what is left of that for the model.
type Saved struct {
	Gross     int     `json:"gross"`
	NotShown  int     `json:"not_shown"`    // the client would have cut it anyway
	Questions int     `json:"questions"`    // what asking cost
	Rereads   int     `json:"rereads"`      // output about what had been pruned before
	RereadsOf int     `json:"reread_count"` // requests
	OfRereads int     `json:"of_rereads"`   // what was pruned from those saves nothing
	Without   int     `json:"without"`      // what would have been shown without any pruning
	Net       int     `json:"net"`          // gross - not_shown - of_rereads - questions - rereads
	NetShare  float64 `json:"net_share"`    // of without
}

// summarize makes the stats of what was loaded.
func summarize(l loaded) Stats {
	c := newCollector()
	for i, e := range l.entries {
		c.add(e, l.saved[i])
	}
	s := c.stats
	s.Records, s.Processes, s.Unreadable = len(l.entries), len(l.writers), l.unreadable
	s.Sessions = len(c.sessions)
	c.finish(&s)
	return s
}

// collector adds records up.
type collector struct {
	stats    Stats
	sessions map[string]bool
	outcomes map[Outcome]int
	tools    map[string]*toolSum
	paths    map[string]*Path
	machines map[string]int
	whole    durations
	pruning  durations
	states   map[[2]string]*durations
	edges    map[edge]*durations
}

type toolSum struct {
	Tool
	took durations
}

func newCollector() *collector {
	return &collector{
		stats:    Stats{Tools: []Tool{}, Pruner: Pruner{Failures: map[string]int{}, Skipped: map[string]int{}}},
		sessions: map[string]bool{}, outcomes: map[Outcome]int{}, tools: map[string]*toolSum{},
		paths: map[string]*Path{}, machines: map[string]int{},
		states: map[[2]string]*durations{}, edges: map[edge]*durations{},
	}
}

func (e *entry) isRequest() bool { return strings.HasPrefix(e.machine, "request") }

// failed: the client was told of a failure, or of nothing.
func (e *entry) failed() bool {
	return e.isRequest() && e.outcome != "responded" && e.why != "cancelled"
}

func (c *collector) add(e *entry, saved saving) {
	s := &c.stats
	if s.From.IsZero() || e.start.Before(s.From) {
		s.From = e.start
	}
	if e.start.After(s.To) {
		s.To = e.start
	}
	if e.session != "" {
		c.sessions[e.session] = true
	}
	key := Outcome{Machine: e.machine, Tool: e.tool, Outcome: e.outcome}
	if e.outcome != "responded" || !e.isRequest() {
		key.Why = e.why
	}
	c.outcomes[key]++
	c.addPath(e)
	if !e.isRequest() {
		s.Runs++
		return
	}
	s.Requests++
	c.whole.add(e.took().Microseconds())
	c.addPruner(e)
	c.addSizes(e, saved)
	c.addTool(e, saved)
}

func (c *collector) addPath(e *entry) {
	c.machines[e.machine]++
	p := c.paths[e.path.key]
	if p == nil {
		p = &Path{Machine: e.machine}
		for i, s := range e.path.steps {
			if i == 0 {
				p.States = append(p.States, string(s.From))
			}
			p.States, p.Triggers = append(p.States, string(s.To)), append(p.Triggers, string(s.Trigger))
		}
		c.paths[e.path.key] = p
	}
	p.Count++
	last := int64(0)
	for i, s := range e.path.steps {
		took := e.micros[i] - last
		last = e.micros[i]
		into(c.states, [2]string{e.machine, string(s.From)}).add(took)
		into(c.edges, edge{e.machine, string(s.From), string(s.Trigger)}).add(took)
		if s.From == fsm.CallingPruner {
			c.pruning.add(took)
		}
	}
}

func into[K comparable](of map[K]*durations, key K) *durations {
	d := of[key]
	if d == nil {
		d = new(durations)
		of[key] = d
	}
	return d
}

func (c *collector) addPruner(e *entry) {
	p := &c.stats.Pruner
	how := e.pruned()
	switch how[0] {
	case "applied":
		p.Applied++
	case "failed":
		p.Failed++
		p.Failures[how[1]]++
	case "cancelled":
		p.Cancelled++
	case "skipped":
		p.Skipped[how[1]]++
	}
	p.Called = p.Applied + p.Failed + p.Cancelled
}

func (c *collector) addSizes(e *entry, saved saving) {
	s := &c.stats
	s.Bytes.Raw += e.bytes.Raw
	s.Bytes.Sent += e.bytes.Sent
	s.Tokens.Raw += e.tokens.Raw
	s.Tokens.Sent += e.tokens.Sent
	if e.tokens.Estimated {
		s.Tokens.Estimated++
	}
	s.Saved.Gross += saved.gross
	s.Saved.Questions += saved.question
	s.Saved.Rereads += saved.reread
	s.Saved.Without += saved.without
	s.Saved.Net += saved.net()
	switch {
	case !saved.again:
		s.Saved.NotShown += saved.gross - saved.shown
	default:
		s.Saved.RereadsOf++
		s.Saved.OfRereads += saved.gross
	}
}

func (c *collector) addTool(e *entry, saved saving) {
	t := c.tools[e.tool]
	if t == nil {
		t = &toolSum{Tool: Tool{Tool: e.tool}}
		c.tools[e.tool] = t
	}
	t.Count++
	if e.failed() {
		t.Failed++
	}
	t.Raw += e.tokens.Raw
	t.Sent += e.tokens.Sent
	t.Net += saved.net()
	t.took.add(e.took().Microseconds())
}

func (c *collector) finish(s *Stats) {
	for o, n := range c.outcomes {
		o.Count = n
		s.Outcomes = append(s.Outcomes, o)
	}
	slices.SortFunc(s.Outcomes, func(a, b Outcome) int {
		return cmp.Or(b.Count-a.Count, strings.Compare(a.Tool, b.Tool), strings.Compare(a.Outcome+a.Why, b.Outcome+b.Why))
	})
	for _, key := range slices.Sorted(maps.Keys(c.paths)) {
		p := c.paths[key]
		p.Share = float64(p.Count) / float64(c.machines[p.Machine])
		s.Paths = append(s.Paths, *p)
	}
	slices.SortStableFunc(s.Paths, func(a, b Path) int { return b.Count - a.Count })
	for _, t := range c.tools {
		t.Latency = t.took.latency()
		s.Tools = append(s.Tools, t.Tool)
	}
	slices.SortFunc(s.Tools, func(a, b Tool) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Tool, b.Tool)) })
	for key, d := range c.states {
		s.States = append(s.States, State{key[0], key[1], len(*d), d.latency()})
	}
	slices.SortFunc(s.States, func(a, b State) int {
		return cmp.Or(strings.Compare(a.Machine, b.Machine), cmp.Compare(b.P50, a.P50), strings.Compare(a.State, b.State))
	})
	s.edges = make(map[edge]*Edge, len(c.edges))
	for key, d := range c.edges {
		s.edges[key] = &Edge{len(*d), d.latency()}
	}
	s.Latency, s.Pruner.Latency = c.whole.latency(), c.pruning.latency()
	if s.Saved.Without > 0 {
		s.Saved.NetShare = float64(s.Saved.Net) / float64(s.Saved.Without)
	}
}

// durations are in microseconds.
type durations []int64

func (d *durations) add(us int64) { *d = append(*d, us) }

// latency sorts the durations and picks from them by the nearest rank: the least
// that so many per cent do not exceed.
func (d durations) latency() Latency {
	if len(d) == 0 {
		return Latency{}
	}
	slices.Sort(d)
	at := func(percent int) int64 { return d[(percent*len(d)+99)/100-1] }
	return Latency{at(50), at(95), at(99), d[len(d)-1]}
}

func runStats(s settings, stdin io.Reader, stdout io.Writer) (int, error) {
	l, err := load(s, stdin)
	if err != nil {
		return exitBad, err
	}
	stats := summarize(l)
	if !s.json {
		return exitOK, stats.show(stdout)
	}
	e := json.NewEncoder(stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return exitOK, e.Encode(stats)
}
