package contextgc

import (
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// maxExplained bounds the number of candidates that an explanation describes.
const maxExplained = 20

// explain says how the candidates were chosen and scored, and what a plan would cost and
// save at the prices of a prompt cache.
func (r *Analysis) explain(segments []Segment, now time.Time) {
	say := func(format string, args ...any) {
		r.Explanation = append(r.Explanation, fmt.Sprintf(format, args...))
	}
	byID := make(map[string]Segment, len(segments))
	pinned, tokens := 0, 0
	for _, s := range segments {
		byID[s.ID] = s
		tokens += s.Tokens
		if s.Pinned {
			pinned++
		}
	}
	say("%d segments with %s tokens are in the context; %d are pinned, %d more are kept because the work in hand refers to them.",
		len(segments), terminal.Grouped(tokens), pinned, len(segments)-pinned-len(r.Candidates))
	for _, c := range r.Candidates[:min(len(r.Candidates), maxExplained)] {
		say("%s", explain(byID[c.ID], now))
	}
	if r.Plan == nil || r.Plan.BreakEven == nil {
		return
	}
	b := r.Plan.BreakEven
	say("The plan: %s. It frees %s tokens.", r.Plan.Reason, terminal.Grouped(r.Plan.Freed))
	say("Clearing them writes the %s recorded tokens behind the first of them to the prompt cache again, which costs as much as %.0f fresh tokens; "+
		"each later call then costs %.0f less. It pays after %d calls.", terminal.Grouped(r.Plan.behind(segments)), b.Cost, b.SavedPerCall, b.Calls)
}
