package doc

import (
	"math"
	"testing"

	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
)

// The numbers that the pages state are the ones of the code.
func TestStated(t *testing.T) {
	page := stated.On(t, "docs/PRUNING.md")
	page.Says("around a kept match stay with it, up to %s in", "PassageLines", PassageLines)
	page.Says("lines with at least %s % of", "FreeFloor", math.Round(100*FreeFloor))
	page.Says("score (%s % in a log)", "FreeLogFloor", math.Round(100*FreeLogFloor))
	page.Says("up to %s of the text", "FreeShare", FreeShare)
	page.Says("text (%s quarters of a log)", "FreeLogShare", 4*FreeLogShare)
	page.Says("up to %s % of the text.", "ExtraShare", math.Round(100*ExtraShare))
	page.Says("the first %s occurrences and the last stay", "PerTemplate", PerTemplate)
	page.Says("A gap of fewer than %s tokens", "BridgedTokens", BridgedTokens)
	page.Says("Confidence is below %s.", "MinConfidence", MinConfidence)
	page.Says("The text has fewer than %s tokens", "ShortText", ShortText)
	page.Says("save less than %s %, markers", "MinGain", math.Round(100*MinGain))
	page.Says("A record of at most %s tokens", "WholeRecord", WholeRecord)
	page.Says("Of more than %s errors, the first", "FewAlarms", FewAlarms)
	page.Says("the first %s and the last of each kind", "PerTemplate", PerTemplate)
	page.Says("and its last %s lines", "EndingLines", EndingLines)
	page.Says("Of failing tests, the first %s,", "FewFailures", FewFailures)
	page.Says("only the first %s bytes of a line with", "ScoredPrefix", ScoredPrefix)
	page.Says("signs of trouble in the first %s.", "SignalPrefix", SignalPrefix)
	page.Says("it uses the first %s bytes", "MaxQuestion", MaxQuestion)
	page = stated.On(t, "docs/decisions/038-questions-about-failures.md")
	page.Says("Of more than %s errors", "FewAlarms", FewAlarms)
	page = stated.On(t, "docs/decisions/038-questions-about-failures.md")
	page.Says("for the first %s failing tests", "FewFailures", FewFailures)
	page = stated.On(t, "docs/decisions/040-paths-are-a-match-list.md")
	page.Says("An unrecognized text of %s lines", "FewLines", FewLines)
	page = stated.On(t, "docs/decisions/040-paths-are-a-match-list.md")
	page.Says("a heading of more than %s tokens", "HeadTokens", HeadTokens)
	page = stated.On(t, "docs/decisions/042-names-in-the-question-stay.md")
	page.Says("A name on more than %s to", "FewNamed", FewNamed)
	page.Says("lines (one in %s)", "NamedShare", NamedShare)
	page = stated.On(t, "docs/decisions/040-paths-are-a-match-list.md")
	page.Says("kept from %s of the best", "RecordFloor", RecordFloor)
	page.Says("score, not %s:", "FreeFloor", FreeFloor)
	page = stated.On(t, "docs/decisions/048-the-learned-ranking-needs-a-session.md")
	page.Says("a rule confidence of %s,", "PreciseConfidence", PreciseConfidence)
	page = stated.On(t, "docs/decisions/052-edited-files-are-cut-with-care.md")
	page.Says("is cut at %s of the price", "CarefulShare", CarefulShare)
	page = stated.On(t, "docs/decisions/056-markers-under-a-reranker.md")
	page.Says("kept lines may take %s % of", "ExtraShare", math.Round(100*ExtraShare))
	page.Says("takes at most %s %. Within", "SkeletonShare", math.Round(100*SkeletonShare))
}
