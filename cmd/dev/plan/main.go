// Command plan chooses the planner's constants on recorded sessions. Each fold of repositories is judged with constants that were
// chosen without it; the last row has those chosen on all. `make plan` runs it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

func main() {
	data := flag.String("data", "../shared/fixtures", "folder of the fixtures")
	flag.Parse()
	if err := run(context.Background(), filepath.Join(*data, "sessions"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "plan:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, out io.Writer) error {
	all, err := record(ctx, dir)
	if err != nil {
		return err
	}
	c := chooser{all, map[string][]result{}}
	now := c.results(contextgc.DefaultPolicy())
	fmt.Fprintf(out, "constants of today: %+.3f\n%s\n", score(all, now, nil), table(all, now, nil))
	heldOut := make([]result, len(all))
	for fold := range folds.Count {
		chosen := c.choose(contextgc.DefaultPolicy(), func(r recorded) bool { return r.fold != fold })
		fmt.Fprintf(out, "without fold %d: %s\n", fold, constants(chosen))
		for i, r := range c.results(chosen) {
			if all[i].fold == fold {
				heldOut[i] = r
			}
		}
	}
	fmt.Fprintf(out, "\nheld out: %+.3f\n%s\n", score(all, heldOut, nil), table(all, heldOut, nil))
	chosen := c.choose(contextgc.DefaultPolicy(), nil)
	best := c.results(chosen)
	fmt.Fprintf(out, "chosen on all: %+.3f, %s\n%s", score(all, best, nil), constants(chosen), table(all, best, nil))
	return nil
}

// recorded is a session as the planner meets it.
type recorded struct {
	set, id string
	fold    int
	bill    float64
	prices  contextgc.Prices
	tape    replay.Tape
	fixed   float64 // what the best fixed rule saves
}

// record reads all sessions of the fixtures.
func record(ctx context.Context, dir string) (all []recorded, err error) {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	var mu sync.Mutex
	err = folds.Sessions(ctx, dir, func(set string, s sessions.Session) error {
		mu.Lock()
		i := len(all)
		all = append(all, recorded{})
		mu.Unlock()
		work.Go(func() error {
			f, err := replay.Of(ctx, s, replay.Settings{Policies: []replay.Policy{replay.GC}})
			if err != nil {
				return err
			}
			r := recorded{set: set, id: s.ID, fold: folds.Of(folds.Repository(s.Source, s.ID)), bill: f.Total, prices: f.PlannerPrices(), tape: f.Tape(replay.GC)}
			b := r.tape.Play(r.policy(contextgc.DefaultPolicy()), contextgc.BestFixedRule(), false)
			r.fixed = b.Before - b.After
			mu.Lock()
			defer mu.Unlock()
			all[i] = r
			return nil
		})
		return nil
	})
	if waited := work.Wait(); err == nil {
		err = waited
	}
	return all, err
}

// policy returns a policy at the prices of the session.
func (r recorded) policy(p contextgc.Policy) contextgc.Policy {
	p.Prices = r.prices
	return p
}
