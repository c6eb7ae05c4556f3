package replay

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/learned"
)

// Settings configure a replay.
type Settings struct {
	Files    []string  // "-": Stdin
	Stdin    io.Reader // may be nil if no file is "-"
	Policies []Policy
	Prices   Prices
	Others   history.OtherTools // the other tools whose results are pruned
	Without  Ablation           // the part of the pruner to switch off; "": none
	Explain  string             // the session to explain: its id or a prefix of it
	Progress func(done string)  // called after each session; nil: not called

	// Boldness is a factor for the price at which a line is kept: above 1, more is cut. 0 means 1.
	Boldness float64

	Asking  Asking // when a model writes a question for this program's tools
	Defined bool   // count no definitions of this program's tools, as if they took the place of the client's

	// Weights returns the weights of the ranking for a session, so that a session can be judged by weights
	// that were learned without it. nil: the embedded weights.
	Weights func(session string) *learned.Weights
}

// figures are the results of one session.
type figures struct {
	*trial
	outcomes map[Policy]Outcome
	cleared  cleared
}

// Replay computes the report and, if Settings.Explain is set, the figures of that session.
func Replay(ctx context.Context, s Settings) (Report, *figures, error) {
	c := newCollector(s.Policies, s.Prices)
	var explained *figures
	var mu sync.Mutex
	seen := map[string]bool{}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	var order []*figures // in reading order, so that sums are the same on every run
	for _, file := range s.Files {
		read := sessions.ReadFile
		if file == "-" {
			read = func(ctx context.Context, _ string, yield func(sessions.Session) error) error {
				return sessions.Read(ctx, "standard input", s.Stdin, yield)
			}
		}
		err := read(ctx, file, func(one sessions.Session) error {
			if seen[one.Source+" "+one.ID] || s.Explain != "" && !strings.HasPrefix(one.ID, s.Explain) {
				return nil
			}
			seen[one.Source+" "+one.ID] = true
			slot := &figures{}
			order = append(order, slot)
			work.Go(func() error {
				f, err := compute(ctx, one, s)
				if err != nil {
					return err
				}
				f.slim(s.Explain != "")
				mu.Lock()
				defer mu.Unlock()
				*slot = *f
				if s.Progress != nil {
					s.Progress(one.ID)
				}
				return nil
			})
			return nil
		})
		if err != nil && ctx.Err() == nil {
			c.report.Skipped = append(c.report.Skipped, err.Error())
		}
	}
	if err := work.Wait(); err != nil {
		return Report{}, nil, err
	}
	for _, f := range order {
		c.add(f)
		explained = f
	}
	if s.Explain == "" {
		explained = nil
	}
	if c.report.Sessions == 0 {
		return Report{}, nil, noSessions(s, c.report.Skipped)
	}
	return c.finish(), explained, nil
}

func noSessions(s Settings, skipped []string) error {
	switch {
	case s.Explain != "":
		return errors.New("no session whose id begins with " + s.Explain)
	case len(skipped) > 0:
		return errors.New("no session could be read: " + strings.Join(skipped, "; "))
	}
	return errors.New("no session with a model call found")
}

// compute bills one session and evaluates the policies.
func compute(ctx context.Context, one sessions.Session, s Settings) (*figures, error) {
	b := newBill(one, s.Prices)
	f := &figures{trial: &trial{bill: b}, outcomes: map[Policy]Outcome{}}
	prunes := slices.ContainsFunc(s.Policies, func(p Policy) bool { return p != GC })
	if prunes {
		t, err := try(ctx, b, s)
		if err != nil {
			return nil, err
		}
		f.trial = t
	}
	for _, p := range s.Policies {
		if p == GC {
			f.cleared = f.clear()
			continue
		}
		f.outcomes[p] = f.judge(p)
	}
	return f, nil
}

// slim drops the texts of a session that are no longer needed, because a large history would not fit into
// memory.
func (f *figures) slim(keep bool) {
	if keep {
		return
	}
	for i := range f.session.Steps {
		step := &f.session.Steps[i]
		step.Text, step.Think, step.Out, step.Args = "", "", "", nil
	}
	f.attempts, f.served, f.needs = nil, nil, nil
	for i := range f.results {
		f.results[i].parsed.Command, f.results[i].parsed.Replace = "", nil
	}
	for _, o := range f.outcomes {
		for i := range o.rows {
			o.rows[i].a.body.Lines, o.rows[i].a.cut.Kept = nil, nil
			o.rows[i].r.parsed.Replace = nil
		}
	}
}
