package verbs

import (
	"bytes"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// contextReport is the output of the verb. Its JSON is a contract (SPEC part J).
type contextReport struct {
	Client   string        `json:"client"`
	Version  string        `json:"version,omitempty"`
	Model    string        `json:"model,omitempty"`
	Tokens   int           `json:"tokens"`
	Complete bool          `json:"complete"` // false: not the request for a model's turn, but the best that the client sent in time
	Sessions int           `json:"sessions"` // whose use was counted
	BillPct  float64       `json:"bill_pct"` // of those sessions' bill, for the prefix; 0: not known
	Parts    []contextPart `json:"parts"`
	After    *contextAfter `json:"after,omitempty"`

	// FirstCall is the first prompt of the user's newest session in tokens, as the vendor counted them, with the user's first words; 0: not known.
	FirstCall int `json:"first_call_tokens,omitempty"`

	client *agent.Client
}

type contextPart struct {
	sessions.PartVerdict
	SharePct float64          `json:"share_pct"`
	BillPct  float64          `json:"bill_pct"` // of the sessions' bill, if the part had this share of each prefix
	Sections []prefix.Section `json:"sections,omitempty"`
}

func roundPercent(pct float64) float64 { return float64(int(100*pct+0.5)) / 100 }

// keep leaves the report in the state directory, for the tab of `mcp-pruner view`. It has names and sizes, no texts.
func (r *contextReport) keep(lookup func(string) (string, bool)) error {
	dir, err := files.StateDir(lookup)
	if err != nil {
		return nil // nobody would look for it there
	}
	var text bytes.Buffer
	if err := writeJSON(&text, r, false); err != nil {
		return err
	}
	return files.Atomic{Path: files.PrefixReport(dir, r.Client)}.Write(text.Bytes())
}

// contextAfter is the prefix after a change.
type contextAfter struct {
	Tokens  int             `json:"tokens"`
	Parts   []sessions.Part `json:"parts"`
	File    string          `json:"file"`
	Off     []string        `json:"off"`
	Without []string        `json:"without_effect,omitempty"` // switches that were taken back
	Left    []string        `json:"left,omitempty"`           // what was not switched off, with the reason
}
