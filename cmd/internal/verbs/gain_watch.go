package verbs

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
)

// watchEvery is the time between two looks at the notes.
const watchEvery = 500 * time.Millisecond

// followNotes prints a line for each new note until the context is done.
func followNotes(ctx context.Context, dir string, w io.Writer) error {
	seen := map[string]bool{}
	for _, n := range hook.LatestNotes(dir) {
		seen[noteKey(n)] = true
	}
	if _, err := fmt.Fprintln(w, "waiting for results that are cut; Ctrl-C ends it"); err != nil {
		return err
	}
	for tick := time.NewTicker(watchEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return ctx.Err()
		case <-tick.C:
		}
		for _, n := range hook.LatestNotes(dir) {
			if seen[noteKey(n)] {
				continue
			}
			seen[noteKey(n)] = true
			if _, err := fmt.Fprintln(w, noteLine(n)); err != nil {
				return err
			}
		}
	}
}

func noteKey(n hook.Note) string { return n.Time.String() + n.ID + n.Call }

func noteLine(n hook.Note) string {
	at := n.Time.Local().Format(time.TimeOnly)
	if n.Back {
		return fmt.Sprintf("%s  brought back %s: %d tokens", at, n.ID, n.Sent)
	}
	return fmt.Sprintf("%s  %s %s: %d tokens instead of %d  %s  %s", at, n.Client, n.Tool, n.Sent, n.Tokens, n.ID, n.About)
}
