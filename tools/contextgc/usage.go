package contextgc

import (
	"crypto/sha256"
	"time"
)

// Usage is a session's token usage as reported by the API, with the modelled saving by
// clearing.
type Usage struct {
	Subject string    `json:"subject,omitempty"`
	Session string    `json:"session"`
	API     string    `json:"api"`
	Model   string    `json:"model"`
	Calls   int       `json:"calls"`
	Input   int       `json:"input_tokens"` // fresh input: neither read from nor written to the cache
	Read    int       `json:"cache_read_tokens"`
	Written int       `json:"cache_write_tokens"`
	Output  int       `json:"output_tokens"`
	Before  float64   `json:"modelled_before"` // cost of the input without clearing, in fresh tokens
	After   float64   `json:"modelled_after"`
	Cleared int       `json:"results_cleared"`
	Updated time.Time `json:"updated"`
}

// Bill returns the cost of the session's input, in fresh input tokens.
func (u Usage) Bill() float64 {
	p := pricesOf(u.Model)
	return float64(u.Input) + float64(u.Read)*p.Read + float64(u.Written)*p.Write
}

// Saved returns the fraction of the input's cost that clearing saved, net of its own cost;
// negative means a loss.
func (u Usage) Saved() float64 {
	if u.Before <= 0 {
		return 0
	}
	return (u.Before - u.After) / u.Before
}

// Cleared is a result that was cleared in a session.
type Cleared struct {
	Tool, Path, Stub string
	Hash             [sha256.Size]byte // of the result's text
	Tokens           int
	At               time.Time
	Why              string // what the planner said to the decision; "": a ledger of an earlier version has no reasons
	Pays             int    // calls after which the decision has paid
}
