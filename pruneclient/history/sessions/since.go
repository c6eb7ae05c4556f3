package sessions

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const (
	newestFiles = 20    // that LongSince reads
	longResult  = 4_000 // bytes
)

// LongSince counts the sessions in folders that began after a time and have a long result of a tool that reads, searches or runs commands:
// all, and those in which such tools were called from code alone. It reads the newest transcripts, and stops with ctx.
func LongSince(ctx context.Context, folders []string, since time.Time) (all, code int) {
	seen := map[string]bool{}
	for _, path := range changedSince(folders, since) {
		_ = ReadFile(ctx, path, func(s Session) error { // what cannot be read is not counted
			direct, coded := s.longResults()
			if (direct || coded) && s.Begun.After(since) && !seen[s.ID] {
				seen[s.ID] = true
				all++
				if !direct {
					code++
				}
			}
			return ctx.Err()
		})
	}
	return all, code
}

// changedSince returns the transcripts that changed after a time, the latest first.
func changedSince(folders []string, since time.Time) []string {
	files, _ := Files(folders) // none after an error
	changed := map[string]time.Time{}
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			changed[path] = info.ModTime()
		}
	}
	paths := slices.SortedFunc(maps.Keys(changed), func(a, b string) int { return changed[b].Compare(changed[a]) })
	return paths[:min(len(paths), newestFiles)]
}

// longResults reports whether the model itself, and whether its code, called tools with long results.
func (s Session) longResults() (direct, coded bool) {
	for _, step := range s.Steps {
		if step.Kind != Result || step.Err || len(step.Out) < longResult {
			continue
		}
		kind := history.KindOf(step.Tool)
		direct = direct || kind == history.Bash || kind == history.Read || kind == history.Grep
		coded = coded || step.Tool == agent.CodexCode
	}
	return direct, coded
}
