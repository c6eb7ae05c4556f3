package verbs

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const (
	missedWithin = 2 * time.Second // for all transcripts of a client
	missedFiles  = 20              // the newest ones that are read
	missedBytes  = 4_000           // of a result that a hook would be told of: some plugins leave out short ones
)

// missedSessions are sessions of a client with results of tools that hooks concern, of which no hook heard.
type missedSessions struct {
	sessions int
	code     bool // in all of them the tools were called from code
}

// String says how many there are, and why that may be.
func (m missedSessions) String() string {
	text := fmt.Sprintf("%d sessions since, none reached the hook", m.sessions)
	if m.sessions == 1 {
		text = "1 session since did not reach the hook"
	}
	if m.code {
		return text + ": their models called tools from code"
	}
	return text + ": it is not trusted, the client reads another settings file, or its hooks are switched off"
}

// missed compares the transcripts of a client with the hook's own note: it counts the sessions that began after the hook was installed
// and ran last.
func missed(ctx context.Context, p command.Process, h initcmd.Hooked, ran time.Time) (found missedSessions) {
	ctx, cancel := context.WithTimeout(ctx, missedWithin)
	defer cancel()
	since := ran
	if info, err := os.Stat(h.File); err == nil && info.ModTime().After(since) {
		since = info.ModTime()
	}
	folders, err := setup.Home{Lookup: p.Lookup}.Transcripts(agent.Named(h.Client))
	if err != nil || since.IsZero() {
		return missedSessions{}
	}
	found.code = true
	seen := map[string]bool{}
	for _, path := range newest(folders, since) {
		_ = sessions.ReadFile(ctx, path, func(s sessions.Session) error { // what cannot be read is not counted
			concerned, code := concerns(s)
			if (concerned || code) && s.Begun.After(since) && !seen[s.ID] {
				seen[s.ID] = true
				found.sessions, found.code = found.sessions+1, found.code && !concerned
			}
			return ctx.Err()
		})
	}
	return found
}

// newest returns the transcripts that changed after a time, the latest first, at most missedFiles.
func newest(folders []string, since time.Time) (paths []string) {
	all, _ := sessions.Files(folders) // they exist
	changed := map[string]time.Time{}
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			changed[path] = info.ModTime()
		}
	}
	paths = slices.SortedFunc(maps.Keys(changed), func(a, b string) int { return changed[b].Compare(changed[a]) })
	return paths[:min(len(paths), missedFiles)]
}

// concerns reports whether a session has long results of tools that hooks concern, and whether it has some of calls from code.
func concerns(s sessions.Session) (concerned, code bool) {
	for _, step := range s.Steps {
		switch {
		case step.Kind != sessions.Result || step.Err || len(step.Out) < missedBytes:
		case step.Tool == agent.CodexCode:
			code = true
		default:
			kind := history.KindOf(step.Tool)
			concerned = concerned || kind == history.Bash || kind == history.Read || kind == history.Grep
		}
	}
	return concerned, code
}
