package stores

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// OpenLedger opens the ledger with the given name, else the one that the environment names, else the user's. failed gets
// messages about errors that do not prevent opening; nil: they are dropped.
func OpenLedger(ctx context.Context, given string, lookup func(string) (string, bool), failed func(message string)) (contextgc.Ledger, error) {
	file, err := ledger.Find(given, lookup)
	if err != nil {
		return nil, err
	}
	return ledger.Open(ctx, file, failed)
}

// LedgerFailed returns a function that reports what fails in a ledger to the event log.
func LedgerFailed(emit func(event.Event)) func(message string) {
	return func(message string) { emit(event.New("ledger.failed", "", event.Facts{"message": message})) }
}

// Limits returns the limits of the ledger in the settings.
func Limits(s settings.Settings) contextgc.Limits {
	return contextgc.Limits{Age: s.GCKeep, Bytes: s.GCMaxBytes}
}
