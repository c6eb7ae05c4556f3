package assemble

import (
	"context"
	"errors"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/archive"
	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// addLedger adds the tools of the toolset gc and reports every answer to the ledger, if the settings ask for either.
func addLedger(p *states.Pipeline, o Options) error {
	offers := slices.Contains(o.Settings.Toolsets, "gc")
	if !offers && o.Settings.GCStore == "" {
		return nil
	}
	tell := func(message string) { o.Emit(event.New("ledger.failed", "", event.Facts{"message": message})) }
	file, err := ledger.Find(o.Settings.GCStore, settings.FromEnv(o.Env))
	if err != nil {
		return err
	}
	store, err := ledger.Open(context.Background(), file, tell)
	if err != nil {
		return err
	}
	project, index := contextgc.ProjectOf(o.Settings.Root), ledger.Index(settings.FromEnv(o.Env))
	if offers {
		p.Tools = append(p.Tools, contextgc.Toolset{Store: store, Project: project, Shown: ledger.Shown(index, store.Name(), o.Settings.Root)}.Tools()...)
	}
	failed := func(err error) { tell(err.Error()) }
	p.Observers = append(p.Observers, ledger.Observer{Store: store, Project: project, Failed: failed})
	stop := ledger.KeepClean(store, index, Limits(o.Settings), failed)
	p.Closers = append(p.Closers, func() error {
		stop()
		return nil
	})
	return nil
}

// elsewhere finds a text that a hook or the proxy cut, by its id.
func elsewhere(ctx context.Context, o Options, id string) (text string, found bool, err error) {
	text, _, err = ledger.Original(ctx, ledger.Index(settings.FromEnv(o.Env)), o.Settings.Root, id)
	if errors.Is(err, archive.ErrNotFound) {
		return "", false, nil
	}
	return text, err == nil, err
}

// Limits returns the limits of the ledger in the settings.
func Limits(s settings.Settings) contextgc.Limits {
	return contextgc.Limits{Age: s.GCKeep, Bytes: s.GCMaxBytes}
}
