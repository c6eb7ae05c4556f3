package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Report is the result over all sessions. Its JSON is a contract (SPEC part J). Savings are positive and in
// percent of the bill.
type Report struct {
	Sessions int                `json:"sessions"`
	Bill     float64            `json:"bill"` // in fresh input tokens
	Share    map[string]float64 `json:"share_pct"`
	Limit    Limit              `json:"limit_pct"`
	Policies map[Policy]any     `json:"policies"`

	// Composition divides the bill by content, then by price.
	Composition map[string]sessions.SplitPrice `json:"composition"`

	// HourOnPrefix is the saving that a cache lifetime of an hour on the fixed prefix would have made; the program does not set it.
	HourOnPrefix float64 `json:"hour_on_prefix_pct"`
	HourUnknown  int     `json:"hour_on_prefix_unknown_pauses"` // writes whose pause is not known, taken for shorter than an hour

	Measured int `json:"sessions_with_usage"`
	Guessed  int `json:"calls_with_modelled_output"` // because the transcript has placeholders
	Calls    int `json:"calls"`

	// Needed is the share in percent of the results large enough to be cut of which a line was needed later. A set with a small
	// one has needs that the rules do not see.
	Needed float64 `json:"results_needed_later_pct"`
	Large  int     `json:"large_results"`

	Prices  string             `json:"prices"`
	Details map[Policy]Detail  `json:"details,omitempty"`
	Skipped []string           `json:"skipped,omitempty"`
	Refused []string           `json:"refused,omitempty"` // sessions of which nothing can be said, with the reason
	NoNet   string             `json:"no_net,omitempty"`  // why the net of all policies is null
	Sizes   map[string]float64 `json:"-"`                 // by the names of SizeClasses
}

// Below these shares of Needed, and with so many results, the figures are labelled, and not printed. Agents that edit what they
// read have half of the large results needed; those that review, or click through pages, leave few marks.
const (
	fewNeeds    = 25
	noNeeds     = 8
	judgedNeeds = 30
)

// Label returns a warning about figures that look better than they are; "" where they do not. printed is false where the
// needs are not seen at all, so that nobody can say what pruning would have saved.
func (r Report) Label() (label string, printed bool) {
	switch {
	case r.Large < judgedNeeds || r.Needed >= fewNeeds:
		return "", true
	case r.Needed >= noNeeds:
		return fmt.Sprintf("Too good: only %.0f %% of the large results leave a mark of being needed (half do where agents edit), so that misses are not seen.", r.Needed), true
	}
	return fmt.Sprintf("No figures: only %.0f %% of the large results were visibly used later, so nobody can say what was missed.", r.Needed), false
}

// Limit is the saving of a perfect pruner that keeps a given share of every result of read, bash and grep
// with at least limitFrom tokens.
type Limit struct {
	Keep10 float64 `json:"keep10"`
	Keep20 float64 `json:"keep20"`
	Keep30 float64 `json:"keep30"`
}

// Pruning summarises a policy that prunes.
type Pruning struct {
	Gross   float64 `json:"gross_pct"`
	Net     float64 `json:"net_pct"`
	Wide    float64 `json:"net_pct_wide"` // where every identifier that stands only in cut lines is needed when it is written
	Misses2 float64 `json:"net_pct_misses2"`
	Misses3 float64 `json:"net_pct_misses3"`
	Median  float64 `json:"median_pct"`
	P10     float64 `json:"p10_pct"`
	P90     float64 `json:"p90_pct"`
	Losing  float64 `json:"losing_pct"`
}

// Clearing summarises the policy gc: its figures as those of the others, and the change of modelled input.
type Clearing struct {
	Pruning
	Input  float64 `json:"input_pct"` // change of modelled input; negative is good
	Reread float64 `json:"reread_pct"`
	Worst  float64 `json:"worst_session_pct"`

	// The same with the best fixed rule.
	Fixed      float64 `json:"fixed_rule_pct"`
	FixedWorst float64 `json:"fixed_rule_worst_session_pct"`
}

// MarshalJSON writes null for every net where nobody can say what would have been saved, and why.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	label, printed := r.Label()
	if printed {
		return json.Marshal(plain(r))
	}
	r.NoNet = label
	bare := map[Policy]any{}
	for p := range r.Policies {
		s, _ := r.Of(p)
		bare[p] = withoutNet{Gross: s.Gross}
	}
	r.Policies = bare
	r.Details = maps.Clone(r.Details)
	for p, d := range r.Details {
		d.Tools, d.Sizes, d.Interval = nil, nil, [2]float64{}
		r.Details[p] = d
	}
	return json.Marshal(plain(r))
}

// withoutNet are the figures of a policy where its misses are not known.
type withoutNet struct {
	Gross   float64  `json:"gross_pct"`
	Net     *float64 `json:"net_pct"`
	Wide    *float64 `json:"net_pct_wide"`
	Misses2 *float64 `json:"net_pct_misses2"`
	Misses3 *float64 `json:"net_pct_misses3"`
	Median  *float64 `json:"median_pct"`
	P10     *float64 `json:"p10_pct"`
	P90     *float64 `json:"p90_pct"`
	Losing  *float64 `json:"losing_pct"`
}

// Of returns the figures of a policy.
func (r Report) Of(p Policy) (Pruning, bool) {
	switch figures := r.Policies[p].(type) {
	case Pruning:
		return figures, true
	case Clearing:
		return figures.Pruning, true
	}
	return Pruning{}, false
}

// Detail breaks down the figures of a Pruning.
type Detail struct {
	Markers     float64          `json:"markers_pct"`
	Questions   float64          `json:"questions_pct"`
	Definitions float64          `json:"definitions_pct"`
	Misses      float64          `json:"misses_pct"`
	Pruned      int              `json:"pruned"`
	Missed      int              `json:"missed"`
	Turns       int              `json:"calls_that_lacked"` // each costs a turn
	Hurt        float64          `json:"hurt_sessions_pct"` // of policy context: sessions that called what was switched off
	Tools       map[string]Group `json:"tools"`
	Sizes       map[string]Group `json:"sizes"`
	Interval    [2]float64       `json:"net_pct_interval"` // 95 % bootstrap interval over sessions
	PerSession  []float64        `json:"-"`                // net in percent of each session's bill, sorted
}

// Group is a subset of the pruned results.
type Group struct {
	Pruned int     `json:"pruned"`
	Missed int     `json:"missed"`
	Gross  float64 `json:"gross_pct"`
	Net    float64 `json:"net_pct"`
}

// SizeClasses are classes of results by size in tokens.
var SizeClasses = []struct {
	Name string
	from int
}{{"20k+", 20000}, {"5k-20k", 5000}, {"2k-5k", 2000}, {"1k-2k", 1000}, {"under 1k", 0}}

func sizeClass(tokens int) string {
	for _, c := range SizeClasses {
		if tokens >= c.from {
			return c.Name
		}
	}
	return ""
}

// ByValue returns the names sorted by value, largest first.
func ByValue(m map[string]float64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b))
	})
}
