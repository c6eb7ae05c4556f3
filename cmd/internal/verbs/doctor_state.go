package verbs

import (
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// showStates prints a line for each client that has our hooks: whether they are on, and when they last worked.
func showStates(p command.Process) {
	last := map[string]time.Time{}
	if dir, err := files.StateDir(p.Lookup); err == nil {
		for _, n := range hook.LatestNotes(dir) {
			if !n.Back {
				last[n.Client] = n.Time
			}
		}
	}
	shown := map[string]bool{}
	for _, h := range initcmd.AllHooked(p) {
		if shown[h.Client] {
			continue
		}
		shown[h.Client] = true
		_, _ = fmt.Fprintf(p.Stdout, "%s: %s\n", agent.Named(h.Client).Title, stateOf(p, last[h.Client], time.Now()))
	}
	if len(shown) == 0 {
		_, _ = fmt.Fprintln(p.Stdout, "No client has hooks: \"mcp-pruner init\" sets them up.")
	}
	_, _ = fmt.Fprintln(p.Stdout)
}

// stateOf says whether hooks are on, and when they last cut something.
func stateOf(p command.Process, last, now time.Time) string {
	state := "hooks on"
	if v, set := p.Lookup("MCP_PRUNER_HOOK"); set && v == "off" {
		state = "hooks off here (MCP_PRUNER_HOOK=off)"
	}
	if last.IsZero() {
		return state + ", nothing cut yet"
	}
	return state + ", last cut " + ago(now.Sub(last))
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
