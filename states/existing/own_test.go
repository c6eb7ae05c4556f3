package existing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// Of a diff before a commit the hunk that the agent wrote itself goes, and the one of somebody else stays.
func TestADiffWithoutTheAgentsOwnEdits(t *testing.T) {
	written := func(lines int) (content, diff string) {
		for n := range lines {
			line := fmt.Sprintf("\trequire.Equal(t, %d, cart.Total(%d), \"an order of %d\")\n", n*7, n, n)
			content, diff = content+line, diff+"+"+line
		}
		return content, diff
	}
	cut := func(lines int, said, prompt, command string) string {
		content, diff := written(lines)
		var log history.Log
		log.User(prompt)
		log.Turn()
		log.Use(history.ParseCall("Write", map[string]any{"file_path": "/shop/cart/cart_test.go", "content": content}))
		log.Turn()
		log.Say(said)
		log.Ran("Bash", nil)
		args := map[string]any{"command": command}
		r := Result{Call: history.ParseCall("Bash", args), Args: args, Body: NewBody(history.Bash, fmt.Sprintf(
			"diff --git a/cart/cart.go b/cart/cart.go\n--- a/cart/cart.go\n+++ b/cart/cart.go\n@@ -3 +3,%d @@\n-fee := 1\n%s"+
				"diff --git a/cart/cart_test.go b/cart/cart_test.go\n--- /dev/null\n+++ b/cart/cart_test.go\n@@ -0,0 +1,%d @@\n%s", 101-lines, strings.Repeat("+fee := fees[order.Country] + fees[order.Parcel]\n", 101-lines), lines, diff))}
		r, decision := r.Known(&log, nil)
		require.True(t, decision.Prune)
		c, err := Prune(t.Context(), r)
		require.NoError(t, err)
		if c.Whole() {
			return ""
		}
		return Text(r.Body, c, ExampleWay)
	}
	require.Equal(t, `[10 of 110 lines; rest: `+"`"+ExampleWay+" --lines A-B`"+`]
diff --git a/cart/cart.go b/cart/cart.go
--- a/cart/cart.go
+++ b/cart/cart.go
@@ -3 +3,1 @@
-fee := 1
+fee := fees[order.Country] + fees[order.Parcel]
diff --git a/cart/cart_test.go b/cart/cart_test.go
--- /dev/null
+++ b/cart/cart_test.go
@@ -0,0 +1,100 @@
... 11-110: your edits
`, cut(100, "I commit it now.", "add a test", "git diff --cached"))
	assert.Empty(t, cut(10, "I commit it now.", "add a test", "git diff"), "little would go")
	for _, said := range []string{"Let me review the diff before the commit.", "Show the full diff", "I check every change once more", "I split it into two commits."} {
		assert.Empty(t, cut(100, said, "add a test", "git diff"), said)
	}
	for _, prompt := range []string{"add a test and review your changes", "show me the whole diff"} {
		assert.Empty(t, cut(100, "I commit it now.", prompt, "git diff"), prompt)
	}
	assert.NotEmpty(t, cut(100, "I commit it now.", "work through the whole list", "git diff"))
	assert.Empty(t, cut(100, "I commit it now.", "add a test", "git diff | head -150"), "what the agent bounded itself")
	assert.Empty(t, cut(100, "I commit it now.", "add a test", "git diff main"))
	assert.Equal(t, 1, strings.Count(cut(100, "I commit it now.", "", "git add -A && git diff --cached"), ownEdits))
}
