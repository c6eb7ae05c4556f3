package replay

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// Replay computes the report and, if Settings.Explain is set, the Figures of that session.
func Replay(ctx context.Context, s Settings) (Report, *Figures, error) {
	c := newCollector(s.Policies)
	r := reading{Settings: s, seen: map[string]bool{}}
	skipped, err := r.all(ctx)
	if err != nil {
		return Report{}, nil, err
	}
	c.report.Skipped = skipped
	if s.choosesContext() {
		chooseContexts(r.order, cmp.Or(s.Rule, sessions.StandardRule()))
	}
	explained := r.collect(c)
	if c.report.Sessions == 0 {
		return Report{}, nil, noSessions(s, slices.Concat(c.report.Refused, c.report.Skipped))
	}
	return c.finish(), explained, nil
}

// reading is the judging of all sessions, several at a time.
type reading struct {
	Settings
	work  *errgroup.Group
	seen  map[string]bool // by source and id
	order []*Figures      // in reading order, so that sums are the same on every run

	progress sync.Mutex
}

// all judges every session of the files. It returns what could not be read.
func (r *reading) all(ctx context.Context) (skipped []string, err error) {
	r.work, ctx = errgroup.WithContext(ctx)
	r.work.SetLimit(runtime.GOMAXPROCS(0))
	for _, file := range r.Files {
		read := sessions.ReadFile
		if file == "-" {
			read = func(ctx context.Context, _ string, yield func(sessions.Session) error) error {
				return sessions.Read(ctx, "standard input", r.Stdin, yield)
			}
		}
		err := read(ctx, file, func(one sessions.Session) error { r.start(ctx, one); return nil })
		if err != nil && ctx.Err() == nil {
			skipped = append(skipped, err.Error())
		}
	}
	return skipped, r.work.Wait()
}

// start judges a session in the background, unless it has no part in the result.
func (r *reading) start(ctx context.Context, one sessions.Session) {
	aside := r.Explain != "" && !strings.HasPrefix(one.ID, r.Explain)
	key := one.Source + " " + one.ID
	if r.seen[key] || aside && !r.choosesContext() || r.Only != nil && !r.Only(one) {
		return
	}
	r.seen[key] = true
	slot := &Figures{}
	r.order = append(r.order, slot)
	policies := r.Policies
	if aside {
		policies = nil // it only has its part in the choice of the policy context
	}
	r.work.Go(func() error {
		f, err := compute(ctx, one, r.Settings, policies)
		if err != nil {
			return err
		}
		f.aside = aside
		f.slim(r.Explain != "" && !aside)
		*slot = *f
		r.progress.Lock()
		defer r.progress.Unlock()
		if r.Progress != nil {
			r.Progress(one.ID)
		}
		return nil
	})
}

// collect adds the sessions to the report, in reading order. It returns the figures of the session to explain, or nil.
func (r *reading) collect(c *collector) (explained *Figures) {
	for _, f := range r.order {
		if f.aside {
			continue
		}
		if slices.Contains(r.Policies, All) {
			f.outcomes[All] = f.together()
		}
		if why := f.refused(); why != "" {
			c.report.Refused = append(c.report.Refused, f.Session.ID+": "+why)
			continue
		}
		c.add(f)
		if r.Chosen != nil {
			r.Chosen(f)
		}
		if r.Explain != "" {
			explained = f
		}
	}
	return explained
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

// choosesContext reports whether a policy depends on other sessions of the project.
func (s Settings) choosesContext() bool {
	return slices.Contains(s.Policies, Context) || slices.Contains(s.Policies, All)
}

// Of computes one session, for policies that depend on no other.
func Of(ctx context.Context, one sessions.Session, s Settings) (*Figures, error) {
	return compute(ctx, one, s, s.Policies)
}

// compute bills one session and evaluates the policies that depend on no other.
func compute(ctx context.Context, one sessions.Session, s Settings, policies []Policy) (*Figures, error) {
	if s.Model != "" {
		one = one.As(s.Model)
	}
	b := sessions.Billed(one, s.Prices)
	f := &Figures{trial: &trial{Bill: b}, outcomes: map[Policy]Outcome{}}
	if slices.ContainsFunc(policies, func(p Policy) bool { return p != GC && p != Context }) {
		t, err := try(ctx, b, s.Others, slices.Contains(policies, MCP), s.Experiment)
		if err != nil {
			return nil, err
		}
		f.trial = t
	} else if policies != nil {
		f.needs = NeedsOf(b)
	}
	f.contents, f.prefixTokens = b.Contents()
	if s.choosesContext() {
		f.facts = f.prefixFacts()
	}
	if policies == nil {
		return f, nil
	}
	f.countNeeds()
	for _, p := range policies {
		f.evaluate(p)
	}
	if s.Judged != nil {
		s.Judged(f)
	}
	return f, nil
}

// evaluate computes the outcome of a policy, except for what needs other sessions.
func (f *Figures) evaluate(p Policy) {
	switch p {
	case GC:
		f.outcomes[GC] = f.clear(nil)
	case Context:
	case Both, All:
		if _, ok := f.outcomes[Both]; !ok {
			f.outcomes[Both] = f.both()
		}
	default:
		f.outcomes[p] = f.judge(p)
	}
}
