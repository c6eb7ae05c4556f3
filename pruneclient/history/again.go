package history

import (
	"cmp"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// mostCut bounds the number of calls with a cut result that a log remembers.
const mostCut = 256

// Cut records that the agent was shown only a part of the result of a call. The call was recorded with Use.
func (l *Log) Cut(c ToolCall) {
	if len(l.cut) == mostCut {
		l.cut = slices.Delete(l.cut, 0, 1)
	}
	l.cut = append(l.cut, c)
}

// Again reports whether a call asks for what an earlier call asked for whose result was cut, and nothing between the two could have
// changed the result. The agent then wants what was cut. Again must be called before Use.
func (l *Log) Again(c ToolCall) bool { return slices.ContainsFunc(l.cut, c.Again) }

// changed forgets the results that a call may have changed.
func (l *Log) changed(c ToolCall) {
	switch {
	case c.Kind == Edit, c.Kind == Write:
		l.cut = slices.DeleteFunc(l.cut, func(earlier ToolCall) bool {
			file, _, _ := earlier.FileRead()
			return file == "" || Same(file, c.File) || slices.ContainsFunc(c.Replace, func(r Replacement) bool { return Same(file, r.File) })
		})
	case c.Kind == Bash && !c.Recovers && !onlyLooks(c.Command), c.Kind == Other && !c.Recovers && acts().MatchString(c.Tool):
		l.cut = nil
	}
}

// acts matches the name of a tool that may change something, such as one that starts another agent.
var acts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)agent|apply|create|delete|edit|exec|insert|move|patch|put|remove|rename|replace|run|send|set|task|update|write`)
})

// Again reports whether a call asks for what an earlier one asked for: the same lines of a file or some of them, or the same with the
// same arguments. What a caller of this program's tools wants to know is a part of that.
func (c ToolCall) Again(earlier ToolCall) bool {
	if file, from, to := c.FileRead(); file != "" {
		before, first, last := earlier.FileRead()
		return Same(file, before) && from >= first && cmp.Or(to, math.MaxInt) <= cmp.Or(last, math.MaxInt) &&
			session.Text(c.args, focus) == session.Text(earlier.args, focus)
	}
	return c.Tool == earlier.Tool && c.Command == earlier.Command && sameArguments(c.args, earlier.args)
}

// Unchanged reports whether a result says, in place of the lines that a read asked for, only that they are as an earlier read showed
// them.
func (c ToolCall) Unchanged(result string) bool {
	return c.Kind == Read && slices.ContainsFunc(agent.ClaudeUnchanged, func(words string) bool { return strings.HasPrefix(result, words) })
}

// SameRead reports whether two calls read the same lines of a file by a tool for that.
func (c ToolCall) SameRead(other ToolCall) bool {
	return c.Kind == Read && other.Kind == Read && c.Again(other) && other.Again(c)
}

// focus is the argument of this program's tools that says what the caller wants to know.
const focus = "context_focus_question"

// besideTheMatter are the arguments that do not change what a call asks for.
var besideTheMatter = []string{"command", "cmd", "description", "justification", "explanation", "timeout", "timeout_ms", "yield_time_ms",
	"max_output_tokens", "max_output_bytes", "max_matches"}

// sameArguments compares what calls ask for.
func sameArguments(a, b map[string]any) bool {
	for _, pair := range [][2]map[string]any{{a, b}, {b, a}} {
		for name, value := range pair[0] {
			if !slices.Contains(besideTheMatter, name) && !reflect.DeepEqual(value, pair[1][name]) {
				return false
			}
		}
	}
	return true
}

// looking are the words after commands that change no file with them alone.
var looking = map[string]string{
	"git": "status diff log show grep blame ls-files branch rev-parse describe shortlog cat-file", "sed": "-n",
	"go": "test vet list doc env version build", "cargo": "test check clippy tree metadata build", "npm": "test t ls list outdated view",
	"yarn": "test list outdated", "pnpm": "test list ls outdated", "ruff": "check", "make": "test check lint",
	"kubectl": "get describe logs top", "docker": "ps logs images inspect",
}

// changing are the words by which one of those does change something.
var changing = []string{"-delete", "-exec", "-execdir", "-ok", "--fix", "--write", "--update", "--updateSnapshot", "-D", "--delete", "--in-place"}

// starters are the words before the name of a command.
var starters = []string{"sudo", "time", "npx", "python", "python3", "-m"}

// onlyLooks reports whether a shell command changes no file.
func onlyLooks(command string) bool {
	list := slices.Concat(session.Pipelines(command)...)
	for _, words := range list {
		for len(words) > 1 && (strings.Contains(words[0], "=") || slices.Contains(starters, words[0])) {
			words = words[1:]
		}
		name := strings.ToLower(words[0][strings.LastIndexAny(words[0], `/\`)+1:])
		if !session.Has(name, session.Looks) && (len(words) < 2 || !slices.Contains(strings.Fields(looking[name]), words[1])) {
			return false
		}
		if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(changing, word) }) {
			return false
		}
	}
	return len(list) > 0
}
