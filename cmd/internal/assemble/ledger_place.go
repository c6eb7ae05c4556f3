package assemble

import (
	"cmp"
	"context"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Ledger is an open ledger with what belongs to its place.
type Ledger struct {
	contextgc.Ledger
	Index clearing.Index // of the ids that are shown for its texts
	Files recovery.Index // the same in a state directory, which has to be cleaned; State "": there is none
}

// LedgerPlace returns the place of the ledger and its name: a file, or a database without its password.
func LedgerPlace(given string, lookup settings.Lookup) (p Place, name string, err error) {
	if p, err = Locate(given, ledger.Variable, "", lookup); err != nil || p.Shared() {
		return p, store.Redact(p.Database.Name), err
	}
	name, err = ledger.Find(cmp.Or(given, p.File), lookup)
	return p, name, err
}

// OpenLedger opens the ledger with the given name, else the one that the environment names, else the user's. failed gets
// messages about errors that do not prevent opening; nil: they are dropped.
func OpenLedger(ctx context.Context, given string, lookup settings.Lookup, failed func(message string)) (Ledger, error) {
	place, file, err := LedgerPlace(given, lookup)
	if err != nil {
		return Ledger{}, err
	}
	if !place.Shared() {
		return openFile(ctx, file, lookup, failed)
	}
	db, err := OpenDatabase(place, failed)
	if err != nil {
		return Ledger{}, err
	}
	return Ledger{Ledger: store.LedgerIn(db, db.Now), Index: store.Shown{DB: db}}, nil
}

// OpenOwnLedger opens the ledger of this machine's user, for hooks: they run where agents do, and never wait for a database.
func OpenOwnLedger(ctx context.Context, lookup settings.Lookup) (Ledger, error) {
	file, err := ledger.Find("", lookup)
	if err != nil {
		return Ledger{}, err
	}
	return openFile(ctx, file, lookup, nil)
}

func openFile(ctx context.Context, file string, lookup settings.Lookup, failed func(message string)) (Ledger, error) {
	store, err := ledger.Open(ctx, file, failed)
	if err != nil {
		return Ledger{}, err
	}
	files := ledger.Index(lookup)
	return Ledger{Ledger: store, Index: clearing.Files{Index: files}, Files: files}, nil
}

// LedgerFailed returns a function that reports what fails in a ledger to the event log.
func LedgerFailed(emit func(fsm.Event)) func(message string) {
	return func(message string) { emit(fsm.NewEvent("ledger.failed", "", fsm.Facts{"message": message})) }
}

// LedgerLimits returns the limits of the ledger in the settings.
func LedgerLimits(s settings.Settings) contextgc.Limits {
	return contextgc.Limits{Age: s.GCKeep, Bytes: s.GCMaxBytes}
}
