package texttools

import (
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the lengths of answers to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("an answer over %s bytes comes in pages", "pageBytes", pageBytes)
	page.Says("an answer carries up to %s MiB", "maxAnswerBytes", maxAnswerBytes>>20)
	page.Says("has expired | %s `prune_id_not_found`", "codeIDNotFound", codeIDNotFound)
	page.Says("after the last line | %s `invalid_range`", "codeBadRange", codeBadRange)
	page.Says("an answer may be | %s `", "codeBadRange", codeBadRange)
	page.Says("takes too long | %s `", "codeBadRange", codeBadRange)
	page = stated.On(t, "docs/decisions/055-what-recover-text-answers.md")
	page.Says("over HTTP returns at most %s MiB", "maxAnswerBytes", maxAnswerBytes>>20)
	page.Says("service share %s MiB", "answerBudget", answerBudget>>20)
	page.Says("Answers up to %s KiB never wait", "freeAnswer", freeAnswer>>10)
}
