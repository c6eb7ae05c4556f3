package verbs

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// showStates prints a line for each client that has our hooks or our proxy: whether they work, and when hooks last cut something.
func showStates(ctx context.Context, p command.Process) {
	dir, _ := files.StateDir(p.Lookup) // without one nothing was noted
	states := map[string]*clientState{}
	for _, h := range initcmd.AllHooked(p) {
		since := hook.LastRan(dir, h.Client)
		if info, err := os.Stat(h.File); err == nil && info.ModTime().After(since) {
			since = info.ModTime()
		} else {
			h.Untrusted = false // it ran, as where the command line lets it
		}
		if states[h.Client] == nil {
			states[h.Client] = &clientState{hooks: &h, missed: missed(ctx, p, h.Client, since)}
		}
	}
	for _, c := range initcmd.AllProxied(p) {
		if states[c.Client] == nil {
			states[c.Client] = &clientState{}
		}
		states[c.Client].proxied = true
	}
	for _, n := range hook.LatestNotes(dir) {
		if s := states[n.Client]; s != nil && !n.Back {
			s.last = n.Time
		}
	}
	for _, c := range agent.With(func(c *agent.Client) bool { return states[c.Name] != nil }) {
		s := states[c.Name]
		s.model, _ = setup.Home{Lookup: p.Lookup}.Model(ctx, c, p.Env) // not known: nothing is said about it
		_, _ = fmt.Fprintf(p.Stdout, "%s: %s\n", c.Title, s.say(p, time.Now()))
	}
	if len(states) == 0 {
		_, _ = fmt.Fprintln(p.Stdout, "No client has hooks: \"mcp-pruner init\" sets them up.")
	}
	_, _ = fmt.Fprintln(p.Stdout)
}

// clientState is what the first lines say of a client.
type clientState struct {
	hooks   *initcmd.Hooked // nil: it has none
	proxied bool
	model   *agent.Model // nil: not known, or of no matter
	last    time.Time    // of a cut
	missed  string       // what sessions since say against the hooks; "": nothing
}

// say returns the state in words.
func (s clientState) say(p command.Process, now time.Time) string {
	v, set := p.Lookup("MCP_PRUNER_HOOK")
	code := s.model != nil && s.model.FromCode
	switch {
	case s.proxied && code:
		return fmt.Sprintf("proxy on; hooks do nothing with its model %s, which calls tools from code", s.model)
	case s.hooks == nil:
		return "proxy on, no hooks"
	case set && v == "off":
		return s.lastCut("hooks off here (MCP_PRUNER_HOOK=off)", now)
	case code:
		return fmt.Sprintf("hooks do nothing with its model %s, which calls tools from code: \"mcp-pruner init %s\" sets up the proxy", s.model, s.hooks.Client)
	case s.hooks.Untrusted:
		return fmt.Sprintf("hooks not trusted, so that they do not run: start %s and open /hooks", s.hooks.Client)
	case s.missed != "":
		return s.lastCut("hooks in the settings, but "+s.missed, now)
	}
	return s.lastCut("hooks on", now)
}

// missedWithin is the time limit for all transcripts of a client.
const missedWithin = 2 * time.Second

// missed says how many sessions of a client with long results began after the hook was installed and ran last, and why that may be; "" if
// there are none.
func missed(ctx context.Context, p command.Process, client string, since time.Time) string {
	ctx, cancel := context.WithTimeout(ctx, missedWithin)
	defer cancel()
	folders, _ := setup.Home{Lookup: p.Lookup}.Transcripts(agent.Named(client)) // none after an error
	all, code := sessions.LongSince(ctx, folders, since)
	why := "it is not trusted, the client reads another settings file, or its hooks are switched off"
	switch {
	case all == 0:
		return ""
	case all == code:
		why = "their models called tools from code"
	}
	return fmt.Sprintf("sessions since (%d), none reached the hook: %s", all, why)
}

// lastCut adds to a state when hooks last cut something.
func (s clientState) lastCut(state string, now time.Time) string {
	if s.last.IsZero() {
		return state + ", nothing cut yet"
	}
	return state + ", last cut " + ago(now.Sub(s.last))
}

// ago returns a time in words.
func ago(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(d / unit.of); {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "less than a minute ago"
}
