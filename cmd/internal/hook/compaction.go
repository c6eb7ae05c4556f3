package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// maxReminded is the largest number of outputs that a reminder names.
const maxReminded = 8

// mark notes a compaction in the ledger. A mark that cannot be stored is dropped.
func (s state) mark(ctx context.Context, call agent.Call) {
	store, err := assemble.OpenOwnLedger(ctx, s.lookup)
	if err != nil {
		return
	}
	defer func() { _ = store.Close() }() // the stored entries are complete by now
	mark := contextgc.Mark{Session: contextgc.SessionID(call.Session), Kind: contextgc.Compacted, Detail: call.Trigger}
	if call.Folder != "" {
		mark.Project = contextgc.ProjectOf(call.Folder)
	}
	_ = store.AddMark(ctx, mark)
}

// remind names the largest outputs that a compaction removed and that can be recovered.
func (s state) remind(ctx context.Context, c *agent.Client, call agent.Call) []byte {
	reach := reachIn(c, call)
	if !reach.Recovers() {
		return nil
	}
	back := existing.BackOf(reach, func() string { return s.wayBack(c.Name) })
	store, err := assemble.OpenOwnLedger(ctx, s.lookup)
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // nothing was written
	went, err := store.List(ctx, contextgc.Filter{Session: contextgc.SessionID(call.Session), Tier: contextgc.Stashed})
	went = slices.DeleteFunc(went, func(w contextgc.Segment) bool { return w.SupersededBy != "" })
	if err != nil || len(went) == 0 {
		return nil
	}
	slices.Reverse(went)
	slices.SortStableFunc(went, func(a, b contextgc.Segment) int { return b.Bytes - a.Bytes })
	went = went[:min(len(went), maxReminded)]
	return s.reminder(c, back, store.Name(), s.project(call.Folder), went)
}

// reachIn returns what leads the agent of a session back, by its transcript.
func reachIn(c *agent.Client, call agent.Call) history.Reach {
	var none history.ToolCall
	session, _ := sessions.Tail(call.Transcript, c.Name, call.Agent, func(end sessions.Session) history.Need { return needsOf(end, "", none) })
	var log history.Log
	feed(&log, session.Steps, "", cutNowhere)
	return log.Reach(none)
}

// reminder names outputs of a project in a ledger by ids with which they can be recovered.
func (s state) reminder(c *agent.Client, back, file, project string, went []contextgc.Segment) []byte {
	index := recovery.Index{State: s.dir}
	var named []string
	for _, w := range went {
		about := w.Tool + " " + w.Path
		if w.FirstLine > 0 {
			about += fmt.Sprintf(" %d-%d", w.FirstLine, w.LastLine)
		}
		id, err := index.Claim(recovery.NewEntry(w.Hash, file, project, w.FirstLine))
		if err != nil {
			return nil
		}
		named = append(named, fmt.Sprintf("%s (%s, %.1f kB)", id, strings.TrimSpace(about), float64(w.Bytes)/1e3))
	}
	answer, _ := json.Marshal(c.Hooks.Remind( // a map of texts
		"Whole outputs from before the compaction, recoverable with `" + back + " ID`: " + strings.Join(named, ", ")))
	return answer
}
