package verbs

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// gainLedger names the proxy's ledger and the subject whose sessions are added up.
type gainLedger struct{ store, subject string }

// gainCleared is what clearing saved. Prices are in fresh input tokens.
type gainCleared struct {
	Total    contextgc.Usage   `json:"total"`
	Bill     float64           `json:"bill"`
	Net      float64           `json:"net"`
	NetPct   float64           `json:"net_pct"` // of what the input would have cost
	Sessions []contextgc.Usage `json:"sessions"`
}

func (l gainLedger) show(ctx context.Context, p command.Process, asJSON bool) error {
	past, err := assemble.OpenHistory(l.store, l.subject, p.Lookup)
	if err != nil {
		return command.Usagef("%w", err)
	}
	defer func() { _ = past.Close() }() // it was only read
	list, err := past.Usages(ctx)
	if err != nil {
		return err
	}
	t := contextgc.Total(list)
	c := gainCleared{Total: t, Bill: t.Bill(), Net: t.Before - t.After, NetPct: 100 * t.Saved(), Sessions: list}
	if asJSON {
		enc := json.NewEncoder(p.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(c)
	}
	_, err = fmt.Fprintf(p.Stdout, "%s cleared in %s. By the proxy's account the input cost %.0f fresh input tokens instead of %.0f: net %+.0f, %+.1f %%. What the API reported comes to %.0f.\n\n",
		terminal.Count(t.Cleared, "result"), terminal.Count(len(list), "session"), t.After, t.Before, c.Net, c.NetPct, c.Bill)
	if err != nil {
		return err
	}
	return showUsage(p.Stdout, list)
}
