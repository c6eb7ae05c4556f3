package history

import (
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// When a result is pruned at all. The numbers are where replay nets most on the dev
// halves; docs/evidence/BILL.md has the curve.
const (
	MinTokens   = 800             // smaller results are not worth a header and a possible second call
	NarrowLines = session.Bounded // a read of so few lines of its own choice is what the agent wants
	editMemory  = 10              // turns for which an edited file counts as being worked on
	earlyCalls  = 10              // calls of the model from which on the text of files is left to clearing
)

// LeftToClearing reports whether a result stays whole until it is cleared, in a session whose model was called so many times; 0: nothing
// is cleared there. Lines of files are needed again most often, and in a long prompt a miss costs more than a cut saves until then.
func (c ToolCall) LeftToClearing(calls int) bool {
	return calls >= earlyCalls && (c.Kind == Read || c.Prints())
}

// Decision says whether a result may be pruned and, if not, the reason for a log.
type Decision struct {
	Prune   bool
	Careful bool // prune only lines that are very unlikely to be needed, because the agent edits the file or is about to
	Why     string
}

// Stays returns the reason why the result of a call stays whole whatever the session contains, or "". tokens is the
// number of tokens of the result.
func (o OtherTools) Stays(c ToolCall, tokens int) string {
	switch {
	case ofOwnServer(c.Tool):
		return "this program's server has pruned it"
	case c.Recovers:
		return "brought back by its id"
	case tokens < MinTokens:
		return "small"
	case c.Kind == Edit, c.Kind == Write, c.Kind == Glob:
		return "not a kind that is pruned"
	case c.Kind == Other && !o.Includes(c.Tool):
		return "another tool"
	case c.Narrow(NarrowLines):
		return "a narrow range"
	}
	return ""
}

// Decide returns whether a result of the given number of tokens may be pruned. It is called before a
// pruner.
func (l *Log) Decide(c ToolCall, tokens int, others OtherTools) Decision {
	if why := others.Stays(c, tokens); why != "" {
		return Decision{Why: why}
	}
	if l.Again(c) {
		return Decision{Why: "the same call again"}
	}
	if !l.Reach(c).Leads(c) {
		return Decision{Why: "nothing would lead back"}
	}
	file, _, _ := c.FileRead()
	if file == "" {
		return Decision{Prune: true}
	}
	if instructions[baseName(file)] {
		return Decision{Why: "instructions for agents"}
	}
	return l.decideFile(c, file)
}

// instructions are the names of files that tell an agent, step by step, how to work. The agent follows steps that no question of
// its own names: docs/decisions/167-what-is-asked-for-as-a-whole.md.
var instructions = map[string]bool{"skill.md": true, "agents.md": true, "claude.md": true, "gemini.md": true, "copilot-instructions.md": true}

// baseName returns the last part of a path of any system, in lower case.
func baseName(file string) string {
	return strings.ToLower(path.Base(strings.ReplaceAll(file, `\`, "/")))
}

// decideFile decides on a file's content, with caution for files that the agent edits.
func (l *Log) decideFile(c ToolCall, file string) Decision {
	if turns, ok := l.editedSince(file); ok && turns <= editMemory {
		return Decision{Prune: true, Careful: true, Why: "edited before"}
	}
	if l.toBeChanged(c, file) {
		return Decision{Prune: true, Careful: true, Why: "named to be changed"}
	}
	return Decision{Prune: true}
}

// change matches words that announce a change.
var change = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:updat|modif|chang|edit|fix|add|insert|remov|delet|renam|refactor|rewrit|replac|implement|mov(?:e|ing)|extract|extend|correct|creat|writ(?:e|ing)|simplif|migrat|convert)\w*`)
})

// toBeChanged reports whether a sentence before the call names both the file and a change.
func (l *Log) toBeChanged(c ToolCall, file string) bool {
	base := baseName(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	if len(stem) <= 2 {
		return false
	}
	for _, sentence := range session.Sentences(strings.ToLower(l.Question(c))) {
		if strings.Contains(sentence, stem) && change().MatchString(sentence) {
			return true
		}
	}
	return false
}
