package assemble

import (
	"slices"

	"mcp-pruner/cmd/internal/ledger"
	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm/event"
	"mcp-pruner/states"
	"mcp-pruner/tools/contextgc"
)

// addLedger offers the tools of toolset gc, and makes the ledger learn of every
// answer, where the settings ask for one of the two.
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
	store, err := contextgc.Open(contextgc.StoreSettings{File: file, Report: tell})
	if err != nil {
		return err
	}
	project := contextgc.ProjectOf(o.Settings.Root)
	if offers {
		p.Tools = append(p.Tools, contextgc.Toolset{Store: store, Project: project}.Tools()...)
	}
	p.Observers = append(p.Observers, ledger.Observer{Store: store, Project: project, Failed: func(err error) { tell(err.Error()) }})
	return nil
}
