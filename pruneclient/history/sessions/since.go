package sessions

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// longResult is a size in bytes. Plugins of clients tell a hook nothing of short ones.
const longResult = 4_000

// LongSince counts the sessions in folders that began after a time and have a long result of a tool that reads, searches or runs commands:
// all, and those in which such tools were called from code alone. It stops with ctx.
func LongSince(ctx context.Context, folders []string, since time.Time) (all, code int) {
	files, _ := Files(folders) // none after an error
	seen := map[string]bool{}
	for _, path := range slices.Backward(files) {
		if info, err := os.Stat(path); err != nil || !info.ModTime().After(since) {
			continue
		}
		_ = ReadFile(ctx, path, func(s Session) error { // what cannot be read is not counted
			if direct, coded := s.longResults(); (direct || coded) && s.Begun.After(since) && !seen[s.ID] {
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
