package contextcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/parts"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/usage"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/prefix"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files/replace"
	"github.com/mcp-pruner/mcp-pruner/tools/statedir"
)

// Report is what the verb shows. Its JSON is a contract (SPEC part J).
type Report struct {
	Client   string  `json:"client"`
	Version  string  `json:"version,omitempty"`
	Model    string  `json:"model,omitempty"`
	Tokens   int     `json:"tokens"`
	Complete bool    `json:"complete"` // false: not the request for a model's turn, but the best that the client sent in time
	Sessions int     `json:"sessions"` // whose use was counted
	BillPct  float64 `json:"bill_pct"` // of those sessions' bill, for the prefix; 0: not known
	Parts    []Part  `json:"parts"`
	After    *After  `json:"after,omitempty"`

	// FirstCall is the first prompt of the user's newest session in tokens, as the vendor counted them, with the user's first words; 0: not known.
	FirstCall int `json:"first_call_tokens,omitempty"`

	client *agent.Client
}

// Part is one part of the prefix.
type Part struct {
	prefix.Verdict
	SharePct float64         `json:"share_pct"`
	BillPct  float64         `json:"bill_pct"` // of the sessions' bill, if the part had this share of each prefix
	Sections []parts.Section `json:"sections,omitempty"`
}

// report judges the parts of a prefix by the user's own sessions.
func (o options) report(ctx context.Context, s seen) (*Report, error) {
	sessions := usage.Options{Client: o.Client, Lookup: o.Project.Lookup, Now: time.Now()}
	if o.own {
		sessions.Folder = o.Folder
	}
	used, err := usage.Of(ctx, sessions)
	if err != nil {
		return nil, err
	}
	judged := make([]prefix.Part, len(s.Parts))
	for i, p := range s.Parts {
		judged[i] = p.Part
		judged[i].Decided = o.Decided(p.Part)
	}
	r := &Report{Client: o.Client.Name, Version: s.version, Model: s.Model, Tokens: s.Tokens, Complete: s.complete,
		Sessions: used.Sessions(), BillPct: round(100 * used.Share), client: o.Client}
	r.FirstCall, _ = usage.First(ctx, sessions)
	for i, v := range prefix.Judge(judged, used.Use) {
		share := 100 * float64(v.Tokens) / float64(max(s.Tokens, 1))
		r.Parts = append(r.Parts, Part{v, round(share), round(share * used.Share), s.Parts[i].Sections})
	}
	r.judge(used.Use)
	return r, nil
}

func round(pct float64) float64 { return float64(int(100*pct+0.5)) / 100 }

// keep leaves the report in the state directory, for the tab of `mcp-pruner view`. It has names and sizes, no texts.
func (r *Report) keep(lookup func(string) (string, bool)) error {
	dir, err := statedir.Find(lookup)
	if err != nil {
		return nil // nobody would look for it there
	}
	var text bytes.Buffer
	if err := r.writeJSON(&text); err != nil {
		return err
	}
	return replace.File{Path: statedir.PrefixReport(dir, r.Client)}.Write(text.Bytes())
}

func (r *Report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}
