//go:build e2e && all

package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestNewerClientsBill proves that replay finds and bills the session that each client itself recorded, and that the bill of the
// same script is smaller with hooks. The mock model counts a token per four bytes of a request, so that the bill is modelled.
func TestNewerClientsBill(t *testing.T) {
	for _, c := range newerClients(t) {
		t.Run(c.name, func(t *testing.T) {
			without, with := c.billed(t, false), c.billed(t, true)
			assert.Less(t, with, without)
			t.Logf("%s: bill without hooks %.0f, with hooks %.0f, %.1f %% less", c.name, without, with, 100*(1-with/without))
		})
	}
}

// billed plays a script in which a long result stays in the context for some turns, and returns the bill of its session.
func (c newer) billed(t *testing.T, hooks bool) float64 {
	w := c.world(t)
	if hooks {
		w.ours(append([]string{"init", c.name}, c.init...)...)
	}
	turns := []mockmodel.Turn{c.turn("I run the tests to see which one fails and why.", "sh tests.sh")}
	for _, word := range []string{"one", "two", "three", "four"} {
		turns = append(turns, c.turn("I go on.", "echo "+word))
	}
	w.model.Play(append(turns, done)...)
	w.alone()
	var report struct {
		Sessions int     `json:"sessions"`
		Measured int     `json:"sessions_with_usage"`
		Calls    int     `json:"calls"`
		Bill     float64 `json:"bill"`
	}
	text := w.ours("replay", "--policy", "hook", "--json")
	require.NoError(t, json.Unmarshal([]byte(text), &report), text)
	assert.Equal(t, []int{1, 6}, []int{report.Sessions, report.Calls})
	t.Log("sessions with the API's own usage: ", report.Measured)
	assert.Positive(t, report.Bill)
	return report.Bill
}
