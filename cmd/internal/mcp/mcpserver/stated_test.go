package mcpserver

import (
	"testing"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// TestStated ties the numbers of both transports to their constants.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/HTTP.md")
	page.Says("| %s clients listen for changes", "maxListeners", maxListeners)
	page.Says("already, or %s of one person", "maxListeners/EachPart", maxListeners/EachPart)
	page.Says("takes longer than %s s, the client gave", "progressEvery", progressEvery/time.Second)
	page.Says("`notifications/progress` every %s s", "progressEvery", progressEvery/time.Second)
	page.Says("arrives before its call is remembered for %s s.", "recentForgets", recentForgets/time.Second)
	page = stated.On(t, "docs/TEAMS.md")
	page.Says("at most %s at each replica", "maxListeners", maxListeners)
	page.Says("a %s\nof them for one subject", "1/EachPart", 1.0/EachPart)
	page = stated.On(t, "docs/clients/claude-code.md")
	page.Says("Claude's own ceiling is %s.", "Claude.Results.Ceiling", agent.Claude.Results.Ceiling)
	page = stated.On(t, "docs/HTTP.md")
	page.Says("errors (`%s`", "codeParseError", codeParseError)
	page.Says("`, `%s`, `-32601`", "codeInvalidRequest", codeInvalidRequest)
	page.Says("`-32600`, `%s`, `-32602`", "codeMethodNotFound", codeMethodNotFound)
	page.Says("`-32601`, `%s`, `-32603`", "codeInvalidParams", codeInvalidParams)
	page.Says("`-32602`, `%s`) included", "codeInternalError", codeInternalError)
	page.Says("`%s` has the same `data`", "codeInvalidParams", codeInvalidParams)
	page.Says("400 and `%s`, also", "codeHeaderMismatch", codeHeaderMismatch)
	page.Says("is 400 and `%s` with `supported`", "codeUnsupportedVersion", codeUnsupportedVersion)
	page.Says("JSON-RPC error %s with the versions", "codeUnsupportedVersion", codeUnsupportedVersion)
	page.Says("has at most a %s of the slots", "1/EachPart", 1.0/EachPart)
	page.Says("together leave a %s to the others", "1/EachPart", 1.0/EachPart)
	page.Says("a %s of them for each name", "1/EachPart", 1.0/EachPart)
	page = stated.On(t, "docs/CONFIG.md")
	page.Says("a JSON-RPC error %s.", "codeInvalidParams", codeInvalidParams)
	page = stated.On(t, "docs/HTTP.md")
	page.Says("| an argument is invalid | %s |", "codeInvalidParams", codeInvalidParams)
	page = stated.On(t, "docs/GATEWAY.md")
	page.Says("take at most a %s of the slots", "1/EachPart", 1.0/EachPart)
	page = stated.On(t, "docs/decisions/007-cancelled-calls-have-no-answer.md")
	page.Says("for a minute (%s ids a session)", "maxRecent", maxRecent)
	page = stated.On(t, "docs/decisions/018-limits-follow-the-client.md")
	page.Says("stays at %s, because output", "Claude.Results.Ceiling", agent.Claude.Results.Ceiling)
}

// TestStatedOfTexts ties the lengths of answers to their constants.
func TestStatedOfTexts(t *testing.T) {
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
