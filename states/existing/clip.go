package existing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
)

// A line of a test's log can be longer than all others together: an object that was printed, a response, a page. Its
// beginning says what it is; what failed stands in lines of its own, or at its ends.
const (
	clippedFrom = 1500 // bytes of the shortest line that loses its middle
	clippedEnd  = 500  // bytes that stay at each end
)

// testRun matches commands that run tests.
var testRun = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:tests?|jest|vitest|pytest|unittest|mocha|ava|tox|nox|rspec|phpunit|ctest|playwright|cypress|gradlew?|mvnw?)\b`)
})

// isTestLog reports whether a result is the log of a command that runs tests.
func (r Result) isTestLog(res lineprune.Result) bool {
	return r.Call.Kind == history.Bash && res.Kind == lineprune.Logs && !r.Call.Prints() && testRun().MatchString(r.Call.Command) &&
		!slices.Contains(res.Warnings, lineprune.IsDiff) && !slices.Contains(res.Warnings, lineprune.HasConflict)
}

// clips reports whether a kept line loses its middle.
func (b Body) clips(kept []int) bool {
	return slices.ContainsFunc(kept, func(n int) bool { return clip(b.Lines[n-1]) != b.Lines[n-1] })
}

// clip returns a long line without its middle. A record, and a line of which the middle says what went wrong, stay whole.
func clip(line string) string {
	if len(line) < clippedFrom || strings.TrimLeft(line, " \t{[") != strings.TrimLeft(line, " \t") {
		return line
	}
	from, to := clippedEnd, len(line)-clippedEnd
	for !utf8.RuneStart(line[from]) {
		from--
	}
	for !utf8.RuneStart(line[to]) {
		to++
	}
	if failing().MatchString("." + line[from:to]) { // the middle does not begin a line
		return line
	}
	return fmt.Sprintf("%s [... %d bytes of this line left out ...] %s", line[:from], to-from, line[to:])
}

// shown returns line n as the client shows it after the cut.
func (c Cut) shown(b Body, n int) string {
	if c.Clipped {
		return clip(b.Line(n))
	}
	return b.Line(n)
}
