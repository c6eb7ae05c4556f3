package promptcache

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
)

// The rule of marks against recorded usage: what a call finds in the cache, by how many blocks it appends. It fits the wide call of
// claude-code-3, which read system and tools only. It does not fit eight calls that append 21 to 27 steps: those of the winter also
// marked the message before, and a transcript has more steps than a request has blocks where texts stand beside results.
func TestTheRuleOnRecordedUsage(t *testing.T) {
	for set, want := range map[string][4]int{
		"claude-code":   {10384, 345, 5, 0}, // calls that append at most 20 blocks, those of them that lost the cache, and the same of the others
		"claude-code-2": {4892, 36, 3, 0},
		"claude-code-3": {4613, 71, 1, 1},
	} {
		var got [4]int
		require.NoError(t, sessions.ReadFile(context.Background(), "../../../../shared/fixtures/sessions/"+set+".jsonl.gz", func(s sessions.Session) error {
			blocks, before := 0, 0
			for _, step := range s.Steps {
				switch {
				case step.Kind == sessions.Compact:
					before = 0
				case step.Kind != sessions.Call:
					blocks++
				case step.Usage == nil || step.Usage.Prompt() == 0:
					before = 0
				default:
					wide := 0
					if blocks > lookBack {
						wide = 2
					}
					if before > 0 {
						got[wide]++
						if 10*step.Usage.CacheRead < 9*before {
							got[wide+1]++
						}
					}
					blocks, before = 0, step.Usage.Prompt()
				}
			}
			return nil
		}))
		assert.Equal(t, want, got, set)
	}
}
