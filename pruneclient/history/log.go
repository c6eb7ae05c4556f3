package history

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// Limits of how much of a session a pruner is given.
const (
	maxEvents   = 60 // the most recent ones
	maxQuestion = 1000
	MostShown   = 4000 // bytes of one event: the end of a message, the beginning of anything else, such as a result
)

// Log records what an agent said and did in the current context. The zero value is an empty session. It is
// not safe for concurrent use.
type Log struct {
	events []pruneclient.Event // in order

	turn      int // number of the agent's answers so far
	said      []saying
	prompt    string         // the user's latest message
	compacted bool           // the client summarised the context: earlier events do not count
	edited    map[string]int // by cleaned path: the turn of the last edit
	edits     edits          // in the current context
	cut       []ToolCall     // calls whose results were cut and cannot have changed since
	tools     []string       // that ran, by the client's names
	reach     *Reach         // nil: told by tools
}

type saying struct {
	turn    int
	text    string
	thought bool
}

// Turn starts a new answer of the model.
func (l *Log) Turn() { l.turn++ }

// User records a message of the user.
func (l *Log) User(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	l.prompt = text
	l.add(session.Say, clip(text, MostShown), "")
}

// Say records a message of the agent.
func (l *Log) Say(text string) { l.speak(text, false) }

// Think records the agent's reasoning.
func (l *Log) Think(text string) { l.speak(text, true) }

func (l *Log) speak(text string, thought bool) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	l.said = append(l.said, saying{l.turn, text, thought})
	if len(l.said) > maxEvents {
		l.said = slices.Delete(l.said, 0, len(l.said)-maxEvents)
	}
	l.add(session.Say, tail(text, MostShown), "")
}

// Use records a tool call when the agent makes it. Reads and searches count from then on, so Question and
// Context must be called before Use if this call's result is to be pruned.
func (l *Log) Use(c ToolCall) {
	l.changed(c)
	switch c.Kind {
	case Edit, Write:
		l.edit(c)
	case Grep, Glob:
		l.add(session.Search, clip(c.Pattern, MostShown), c.Path)
	case Bash:
		if file, _, _ := c.FileRead(); file != "" {
			l.add(session.Read, "", file)
			return
		}
		l.add(session.Search, clip(c.Command, MostShown), "")
	case Read:
		l.add(session.Read, "", c.File)
	}
}

func (l *Log) edit(c ToolCall) {
	if l.edited == nil {
		l.edited = map[string]int{}
	}
	l.edited[clean(c.File)] = l.turn
	if l.edits == nil {
		l.edits = edits{}
	}
	var text []string
	for _, r := range c.Replace {
		text = append(text, r.Old, r.New)
		l.edits.note(cmp.Or(r.File, c.File), r, c.Kind == Write)
		if r.File != "" {
			l.edited[clean(r.File)] = l.turn
		}
	}
	l.add(session.Edit, clip(strings.Join(text, "\n"), MostShown), c.File)
}

// Served records a call of which only the question is known, as in a server, with its result.
func (l *Log) Served(c ToolCall, question, text string) {
	l.Turn()
	l.Say(question)
	l.Use(c)
	l.Result(c, text)
}

// Result records a call's result as the agent was shown it.
func (l *Log) Result(c ToolCall, text string) {
	if c.Kind == Edit || c.Kind == Write || text == "" {
		return
	}
	file, _, _ := c.FileRead()
	l.add(session.Result, clip(text, MostShown), file)
}

// SetReach sets what the agent's client or its requests say. Without it the reach is told by the tools that ran so far.
func (l *Log) SetReach(r Reach) { l.reach = &r }

// Reach returns what leads back to what is left out of the result of a call that is not in the log yet.
func (l *Log) Reach(c ToolCall) Reach {
	if l.reach != nil {
		return *l.reach
	}
	all := Log{tools: slices.Clone(l.tools)}
	all.Ran(c.Tool, c.args)
	return ReachBy(all.tools, ReadTool)
}

// Ran records that a tool ran. One that failed may not exist, or may not be allowed. args are nil if they are not known; without any in which
// a shell is given a command the tool is none, whatever its name is.
func (l *Log) Ran(tool string, args map[string]any) {
	if Takes(tool, slices.Collect(maps.Keys(args))) && !slices.Contains(l.tools, tool) {
		l.tools = append(l.tools, tool)
	}
}

// Compact discards the context after the client summarised it. The user's latest message and the edited
// files are kept.
func (l *Log) Compact() { l.events, l.said, l.cut, l.edits, l.compacted = nil, nil, nil, nil, true }

// Need says which earlier steps would change what a log tells a pruner.
type Need int

const (
	NeedsNothing Need = iota
	NeedsPrompt       // only the user's latest message
	NeedsEvents       // any
)

// Needs returns what a log that was fed with the end of a session lacks of the whole session.
func (l *Log) Needs() Need {
	switch {
	case len(l.events) < maxEvents && !l.compacted, l.turn <= editMemory:
		return NeedsEvents
	case l.prompt == "":
		return NeedsPrompt
	}
	return NeedsNothing
}

func (l *Log) add(kind session.Kind, text, file string) {
	l.events = append(l.events, pruneclient.Event{Kind: kind, Text: text, File: file})
	if len(l.events) > 2*maxEvents {
		l.events = slices.Delete(l.events, 0, len(l.events)-maxEvents)
	}
}

// Context returns the earlier events, most recent first.
func (l *Log) Context() []pruneclient.Event {
	events := slices.Clone(l.events[max(0, len(l.events)-maxEvents):])
	slices.Reverse(events)
	return events
}

// editedSince returns how many turns ago a file was edited. ok is false if it was not edited.
func (l *Log) editedSince(file string) (turns int, ok bool) {
	last := -1
	for name, turn := range l.edited {
		if Same(name, file) {
			last = max(last, turn)
		}
	}
	return l.turn - last, last >= 0
}

// NeedsEdits reports whether edits that a log was not told of could have made a part of a call's result.
func (l *Log) NeedsEdits(c ToolCall) bool {
	_, ok := c.diffArgs()
	return ok && !l.compacted
}

// Question returns what the agent wants to know from a call. It is the first of these that exists: the
// call's description, the message in the same answer, the end of the reasoning in it, a message up to two
// answers earlier, the user's latest message. The call's own pattern and names are appended.
func (l *Log) Question(c ToolCall) string {
	question := c.About
	if question == "" {
		question = l.words()
	}
	if question == "" {
		question = tail(stripped(l.prompt), maxQuestion/2)
	}
	if question == "" {
		question = strings.TrimSpace(c.Command + " " + c.File)
	}
	if c.Kind == Grep && c.Pattern != "" && !strings.Contains(question, c.Pattern) {
		question = strings.TrimSpace(question + " " + clip(c.Pattern, 200))
	}
	return clip(question, maxQuestion)
}

// Asking returns what may ask for all of a call's output: the agent's sentence before the call, and the user's latest message.
func (l *Log) Asking() (said, prompt string) {
	for _, sentence := range session.Sentences(l.words()) {
		if content(sentence) >= 2 {
			said = sentence
		}
	}
	return said, stripped(l.prompt)
}

func (l *Log) words() string {
	for back := 0; back <= 2; back++ {
		var spoken, thought string
		for _, s := range l.said {
			switch {
			case s.turn != l.turn-back:
			case s.thought:
				thought = s.text
			default:
				spoken = s.text
			}
		}
		if text := stripped(spoken); content(text) >= 2 {
			return tail(text, maxQuestion)
		}
		if text := tail(stripped(thought), maxQuestion/2); content(text) >= 2 {
			return text
		}
	}
	return ""
}

var (
	fences = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("(?s)```.*?```") })
	tags   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)<(system-reminder|command-\w+|local-command-\w+)>.*?</[\w-]+>`)
	})
	opening = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(?:(?:great|good|perfect|excellent|ok|okay|now|sure|right|thanks|alright|thought)\b[,.!:]?\s*)*(?:(?:i'll|i will|let me|let's|i need to|i should)\s+(?:now\s+|first\s+|also\s+)*)?`)
	})
	words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}\d_]{4,}`) })
)

// stripped removes text without information: code blocks, tags, phrases such as "Great! Let me now".
func stripped(text string) string {
	text = tags().ReplaceAllString(fences().ReplaceAllString(text, " "), " ")
	text = strings.TrimSpace(text)
	if bare := strings.TrimSpace(text[len(opening().FindString(text)):]); bare != "" {
		return bare
	}
	return text
}

func content(text string) int { return len(words().FindAllString(text, 3)) }

// clip returns the beginning of a text, cut at a rune boundary. It is a copy, so that the rest of an output
// can be freed.
func clip(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return validCopy(text[:bytes])
}

// validCopy returns a copy without bytes that are not UTF-8. Whether there are any is seen faster than they are removed.
func validCopy(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "")
	}
	return strings.Clone(text)
}

// tail returns the end of a text, starting at a word.
func tail(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	text = validCopy(text[len(text)-bytes:])
	if _, rest, ok := strings.Cut(text, " "); ok {
		return rest
	}
	return text
}
