package rank

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

func TestWordsThatAskForAll(t *testing.T) {
	for sentence, want := range map[string]bool{
		"find all usages of CheckpointID":                      true,
		"I check every caller":                                 true,
		"what does each handler return":                        true,
		"List the open issues":                                 true,
		"let me see the pods and list those that fail":         true,
		"How many orders are there?":                           true,
		"Count the failures":                                   true,
		"I rename oldName to newName":                          true,
		"replace the deprecated call":                          true,
		"Go through the review comments one by one":            true,
		"Don't miss a file":                                    true,
		"Don’t miss a file":                                    true,
		"do not miss any of them. Then run it":                 true,
		"where is it used, everywhere in the whole repository": true,
		"I run all tests to see which one fails":               false,
		"Run all the tests":                                    false,
		"make sure all tests pass":                             false,
		"it does not work at all":                              false,
		"the linked list in the store":                         false,
		"which account counts":                                 false,
		"I look where retries are counted":                     false,
		"a recount of the listed names":                        false,
		"is it renamed":                                        false,
		"":                                                     false,
	} {
		require.Equal(t, want, AsksForAll(session.Origin{Asked: true}, sentence), sentence)
	}
}

// In a client's session the question may be the user's prompt, in which such a word is often about something else.
func TestWhoAsksForAll(t *testing.T) {
	grep := map[string]any{"pattern": "oldName"}
	clippy := map[string]any{"command": "cargo clippy --all-targets", "description": "Run clippy"}
	for _, c := range []struct {
		about, said, prompt string
		args                map[string]any
		want                bool
	}{
		{"the sentence before the call", "find all uses of it", "Fix the store.", grep, true},
		{"the call's description", "", "Fix the store.", map[string]any{"command": "gh api x", "description": "List all comments"}, true},
		{"a prompt that names it", "I look in the store.", "Rename oldName in the whole repository. Do not miss a file.", grep, true},
		{"a prompt about something else", "I look in the store.", "Every release needs a note. Fix oldName.", grep, false},
		{"a prompt that names what is run", "", "Fix all clippy warnings.", clippy, true},
		{"a prompt that names something else", "", "Update all outdated packages.", clippy, false},
		{"a prompt that has one word of many", "", "Sync every branch.", map[string]any{"command": "rg -n 'sync|mode|thin|relay' ."}, false},
		{"a command that is not read", "", "Sync every branch.", map[string]any{"command": "rg -n 'sync|mode|thin|relay' $(cat list)"}, false},
		{"a pattern in a command", "", "Rename oldName everywhere.", map[string]any{"command": "cd /shop && grep -rn -A 2 oldName src"}, true},
		{"nothing known but the question", "", "", grep, true},
	} {
		call := session.Origin{Tool: "bash", Args: c.args, Said: c.said, Prompt: c.prompt}
		require.Equal(t, c.want, AsksForAll(call, "Show all of them."), c.about)
	}
	page := session.Origin{Tool: "other", Args: map[string]any{"id": "handbook"}, Prompt: "Then fix all other files."}
	require.False(t, AsksForAll(page, ""), "the tool of another server has no name here that a sentence could have")
}

func TestWhoReviewsADiff(t *testing.T) {
	diff := map[string]any{"command": "git diff"}
	about := map[string]any{"command": "git diff", "description": "Show full diff"}
	for _, c := range []struct {
		said, prompt string
		args         map[string]any
		want         bool
	}{
		{"Let me review the changes", "", diff, true},
		{"Let me look at every change", "", diff, true},
		{"I show you the final diff", "", diff, true},
		{"", "commit this", about, true},
		{"I commit it now", "Review the changes of the cart", diff, true},
		{"", "show me the complete diff", diff, true},
		{"I commit it now", "work through the whole list and then commit", diff, false},
		{"", "finish the whole list", diff, false},
		{"Let me look at what changed before the commit", "commit this", diff, false},
	} {
		call := session.Origin{Tool: "bash", Args: c.args, Said: c.said, Prompt: c.prompt}
		question := c.said
		if question == "" {
			question = c.prompt
		}
		require.Equal(t, c.want, AsksForReview(call, question), c)
	}
}
