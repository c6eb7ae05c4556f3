package assemble

import (
	"context"
	"errors"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// addLedger adds the tools of the toolset gc and reports every answer to the ledger, if the settings ask for either.
func addLedger(p *states.Pipeline, o Options) error {
	offers := slices.Contains(o.Settings.Toolsets, "gc")
	if !offers && o.Settings.GCStore == "" && o.Settings.Store == "" {
		return nil
	}
	tell := LedgerFailed(o.Emit)
	store, err := OpenLedger(context.Background(), "", lookupOf(o.Settings, o.Env), tell)
	if err != nil {
		return err
	}
	project := contextgc.ProjectOf(o.Settings.Root)
	if offers {
		index := limited{store.Index, &recovery.Misses{}, warn(o)}
		p.Tools = append(p.Tools, contextgc.Toolset{Store: store, Project: project, Shown: ledger.Shown(index, store.Name(), o.Settings.Root)}.Tools()...)
	}
	failed := func(err error) { tell(err.Error()) }
	p.Observers = append(p.Observers, ledger.Observer{Store: store, Project: project, Failed: failed})
	stop := ledger.KeepClean(store, store.Files, LedgerLimits(o.Settings), failed)
	p.Closers = append(p.Closers, func() error {
		stop()
		return store.Close()
	})
	return nil
}

// elsewhere finds a text that a hook or the proxy cut, by its id.
func elsewhere(ctx context.Context, o Options, id string) (text string, found bool, err error) {
	if agent.SubjectOf(ctx) != "" {
		return "", false, nil // the files of hooks and proxies belong to the owner of the machine
	}
	text, _, err = ledger.Original(ctx, ledger.Index(settings.FromEnv(o.Env)), o.Settings.Root, id)
	if errors.Is(err, recovery.ErrNotFound) {
		return "", false, nil
	}
	return text, err == nil, err
}

// printed returns a function that tells what an agent of this machine has just brought back.
func printed(o Options) func(text string) bool {
	just := ledger.Printed(settings.FromEnv(o.Env))
	return func(text string) bool {
		_, found := just.Find(text)
		return found
	}
}
