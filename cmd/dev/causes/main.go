// Command causes prints what the hook loses to a perfect pruner in the fixtures' sessions, by cause, tool and size.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

func main() {
	dir := flag.String("data", "../shared/fixtures/sessions", "`folder` of the sessions")
	weights := flag.String("weights", "", "`folder` of weights per fold, as train -folds writes them; empty: the embedded ones")
	least := flag.Float64("least", 0.1, "percent of the bill below which a row is left out")
	bold := flag.Float64("price", 1, "factor for the price at which a line is kept")
	flag.Parse()
	if err := run(context.Background(), *dir, *weights, *least, *bold); err != nil {
		fmt.Fprintln(os.Stderr, "causes:", err)
		os.Exit(1)
	}
}

// tally sums the losses of one repository, or of one kind of session.
type tally struct {
	sessions                int
	bill, limit, net, twice float64
	losses                  map[string]float64 // by cause, tool and size
	causes                  map[string]float64
	losing                  int
	thrice                  float64
}

func run(ctx context.Context, dir, weights string, least, bold float64) error {
	unseen, err := folds.Weights(weights)
	if err != nil {
		return err
	}
	files, err := sessions.Files([]string{dir})
	if err != nil {
		return err
	}
	tallies := map[string]*tally{}
	var mu sync.Mutex
	for _, file := range files {
		s := replay.Settings{Files: []string{file}, Policies: []replay.Policy{replay.Hook}}
		s.Boldness = bold
		if unseen != nil {
			s.Weights = func(s sessions.Session) *learned.Weights { return unseen[folds.Of(folds.Repository(s.Source, s.ID))] }
		}
		s.Judged = func(f *replay.Figures) {
			mu.Lock()
			defer mu.Unlock()
			name := setOf(file, f.Session)
			if tallies[name] == nil {
				tallies[name] = &tally{losses: map[string]float64{}, causes: map[string]float64{}}
			}
			tallies[name].add(f)
		}
		if _, _, err := replay.Replay(ctx, s); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tallies)) {
		tallies[name].print(name, least)
	}
	return nil
}

// setOf returns the collection of a session or, where that has several repositories, the repository.
func setOf(file string, s sessions.Session) string {
	name := filepath.Base(file)
	switch {
	case s.Source == "codex":
		return s.Source
	case name == "claude-code-2.jsonl.gz":
		return s.Source
	}
	return name
}

func (t *tally) add(f *replay.Figures) {
	o := f.Outcome(replay.Hook)
	t.sessions++
	t.bill += f.Total
	t.net += o.Net(1)
	t.twice += o.Net(2)
	t.thrice += o.Net(3)
	if o.Net(1) < -.0005*f.Total {
		t.losing++
	}
	for _, l := range f.Losses(replay.Hook) {
		t.losses[l.Cause+" | "+l.Tool+" | "+size(l.Tokens)] += l.Cost
		t.causes[l.Cause+" | "+l.Tool] += l.Cost
		t.limit += l.Cost
	}
	t.limit += o.Net(1)
}

// size returns the class of a result by its tokens.
func size(tokens int) string {
	for _, c := range []int{20000, 5000, 2000, 1000} {
		if tokens >= c {
			return strconv.Itoa(c/1000) + "k+"
		}
	}
	return "under 1k"
}

func (t *tally) print(name string, least float64) {
	pct := func(x float64) float64 { return 100 * x / t.bill }
	fmt.Printf("\n%s: %d sessions; limit %.1f, hook %+.1f/%+.1f/%+.1f (%.0f %% of the limit), %d losing (%.1f %%)\n", name, t.sessions, pct(t.limit), pct(t.net), pct(t.twice), pct(t.thrice),
		100*t.net/cmp.Or(t.limit, 1), t.losing, 100*float64(t.losing)/float64(t.sessions))
	for _, cause := range slices.SortedFunc(maps.Keys(t.causes), func(a, b string) int { return cmp.Compare(t.causes[b], t.causes[a]) }) {
		if x := pct(t.causes[cause]); x >= least || x <= -least {
			fmt.Printf("%8.2f  %s\n", x, cause)
			for _, size := range []string{"20k+", "5k+", "2k+", "1k+", "under 1k"} {
				if y := pct(t.losses[cause+" | "+size]); y >= least || y <= -least {
					fmt.Printf("%16.2f  %s\n", y, size)
				}
			}
		}
	}
}
