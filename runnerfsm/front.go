package runnerfsm

import (
	"context"
	"os/exec"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/provider"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
)

// launchInFront starts the client with the terminal of this process. There is no keeper, because the client would then be
// in the terminal's background.
func (r *run) launchInFront(ctx context.Context, p *phase) *phase {
	args := r.Provider.Args(provider.Launch{Options: r.ProviderOptions})
	path, err := system.Here(r.Settings.Env).ClientPath(r.Provider.Name(), args)
	if err != nil {
		return r.unstarted(p, notFound, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env = r.Settings.Dir, slices.Clone(r.Settings.Env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.Stdin, r.Stdout, r.Stderr
	front, err := keeper.StartInFront(cmd)
	if err != nil {
		return r.unstarted(p, keeper.CannotStart, err)
	}
	r.live.Go(func() { r.passSignals(ctx, front.Signal, p.ended) }) // what the client does then, and its exit code, are its own
	go func() {
		p.code = front.Wait()
		close(p.ended)
	}()
	return p
}
