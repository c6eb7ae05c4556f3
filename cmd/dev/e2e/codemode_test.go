//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/e2e/mockmodel"
)

// TestCodexCodeMode proves that a command which a model of Codex runs from code comes whole, and as no error, whatever the
// model is called.
func TestCodexCodeMode(t *testing.T) {
	for _, listed := range codexModels(t) {
		model := listed.Slug
		if listed.Mode == "" {
			continue // TestCodexAtItsDefaults
		}
		t.Run(model, func(t *testing.T) {
			c := both()[1]
			code := "const r = await tools.exec_command({cmd: " + strconv.Quote(testLog) + "}); text(r.output)"
			w := hooked(t, c, mockmodel.Turn{Calls: []mockmodel.Call{{Tool: "exec", Code: code}}}, done)
			w.write(filepath.Join(w.home, "config.toml"), strings.Replace(strings.ReplaceAll(codexConfig, "%s", w.model.URL), "mock-model", model, 1), 0o600)
			w.play(append(slices.Clone(c.direct), "--dangerously-bypass-hook-trust", "which test failed?")...)
			requests := w.model.Requests()
			seen := string(requests[len(requests)-1].Body)
			assert.Contains(t, seen, "custom_tool_call_output")
			assert.Contains(t, seen, "Script completed")
			assert.NotContains(t, seen, "Script error")
			assert.Contains(t, seen, "PASS: TestMore80")
		})
	}
}
