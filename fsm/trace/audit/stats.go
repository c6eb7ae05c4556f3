package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// Stats summarize records.
type Stats struct {
	Verdict    Verdict   `json:"verdict"` // on the whole trace
	Records    int       `json:"records"`
	Requests   int       `json:"requests"`
	Runs       int       `json:"runs"`
	Sessions   int       `json:"sessions"`
	Processes  int       `json:"processes"`
	Unreadable int       `json:"unreadable_lines"`
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`

	Outcomes []Outcome   `json:"outcomes"`
	Tools    []Tool      `json:"tools"`
	Paths    []PathCount `json:"paths"`
	Latency  Latency     `json:"latency"` // of whole requests
	States   []State     `json:"states"`
	Pruner   Pruner      `json:"pruner"`
	Bytes    Sizes       `json:"bytes"`
	Tokens   Sizes       `json:"tokens"` // o200k
	Saved    Saved       `json:"saved_tokens"`
}

// Outcome counts the requests of one tool, or the runs, that had one outcome.
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
	Gross   int     `json:"pruned_tokens"`
	Net     int     `json:"net_saved_tokens"`
	Latency Latency `json:"latency"`
}

// PathCount is the number of records that took one path through a machine.
type PathCount struct {
	Machine  string   `json:"machine"`
	States   []string `json:"states"`
	Triggers []string `json:"triggers"`
	Count    int      `json:"count"`
	Share    float64  `json:"share"` // fraction of the machine's records

	Path *Path `json:"-"`
}

// State is the time that requests spent in a state.
type State struct {
	Machine string `json:"machine"`
	State   string `json:"state"`
	Count   int    `json:"count"`
	Latency
}

// Pruner counts the calls of the pruner by result: applied, failed or cancelled.
type Pruner struct {
	Called    int            `json:"called"`
	Applied   int            `json:"applied"`
	Failed    int            `json:"failed"`
	Cancelled int            `json:"cancelled"` // cancelled before the pruner answered
	Failures  map[string]int `json:"failures"`  // by reason
	Skipped   map[string]int `json:"skipped"`   // requests for which it was not called, by reason
	Latency   Latency        `json:"latency"`
}

// Sizes are the sizes of the tools' outputs and of the answers to the client.
type Sizes struct {
	Raw       int `json:"raw"`
	Sent      int `json:"sent"`
	Estimated int `json:"estimated_records,omitempty"` // records whose tokens are estimates
}

// Saved is the balance in tokens. Gross is the saving by pruning, minus the markers; net is
// the part of it that benefits the model.
type Saved struct {
	Gross     int     `json:"gross"`
	NotShown  int     `json:"not_shown"`    // the client would have cut it anyway
	Questions int     `json:"questions"`    // cost of the questions
	Rereads   int     `json:"rereads"`      // output about something that was pruned before
	RereadsOf int     `json:"reread_count"` // number of such requests
	OfRereads int     `json:"of_rereads"`   // pruned from those; it saves nothing
	Without   int     `json:"without"`      // tokens that would have been shown without any pruning
	Net       int     `json:"net"`          // gross - not_shown - of_rereads - questions - rereads
	NetShare  float64 `json:"net_share"`    // fraction of without
}

// finish computes the stats from the collected numbers.
func (c *Collector) finish() Stats {
	s := c.stats
	for _, o := range slices.SortedFunc(maps.Keys(c.outcomes), func(a, b Outcome) int {
		return cmp.Or(c.outcomes[b]-c.outcomes[a], strings.Compare(a.Tool, b.Tool), strings.Compare(a.Outcome+a.Why, b.Outcome+b.Why))
	}) {
		o.Count = c.outcomes[o]
		s.Outcomes = append(s.Outcomes, o)
	}
	for _, key := range slices.Sorted(maps.Keys(c.Paths)) {
		w := *c.Paths[key]
		w.Share = float64(w.Count) / float64(c.machines[w.Machine])
		s.Paths = append(s.Paths, w)
	}
	slices.SortStableFunc(s.Paths, func(a, b PathCount) int { return b.Count - a.Count })
	for _, t := range c.tools {
		t.Latency = t.took.Latency()
		s.Tools = append(s.Tools, t.Tool)
	}
	slices.SortFunc(s.Tools, func(a, b Tool) int { return cmp.Or(b.Count-a.Count, strings.Compare(a.Tool, b.Tool)) })
	s.States = c.statesSorted()
	s.Latency, s.Pruner.Latency = c.whole.Latency(), c.pruning.Latency()
	if s.Saved.Without > 0 {
		s.Saved.NetShare = float64(s.Saved.Net) / float64(s.Saved.Without)
	}
	return s
}

func (c *Collector) statesSorted() []State {
	list := []State{}
	times := make(map[[2]string]*Durations)
	for e, d := range c.Edges {
		into(times, [2]string{e.Machine, e.From}).merge(d)
	}
	for key, d := range times {
		list = append(list, State{key[0], key[1], d.Count, d.Latency()})
	}
	slices.SortFunc(list, func(a, b State) int {
		return cmp.Or(strings.Compare(a.Machine, b.Machine), cmp.Compare(b.P50, a.P50), strings.Compare(a.State, b.State))
	})
	return list
}
