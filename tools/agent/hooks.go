package agent

import (
	"slices"
	"strings"
)

// Hooks say how a client runs a program after its own tools, what it tells the program, and what it does with the answer.
type Hooks struct {
	// Events are the entries in its settings; none: the client has plugins, and Plugin is ours.
	Events []Event
	Plugin string

	// Enabled is where its settings say that our plugin of the client's own market is in use; nil: there is no such plugin.
	Enabled []string

	// Note tells the user what else to do; "": nothing.
	Note string

	// Trusted reports whether the user lets the client run a hook: the only one of an entry, which is at index n of an event's list
	// in a file. settings are the client's. Nil: it asks for no trust.
	Trusted func(settings map[string]any, file, event string, n int, entry map[string]any) bool

	// Others are the tools, beside those that read, run commands and search, whose results its hook can replace: names, or
	// beginnings of names that end in "*".
	Others []string

	// AsErrors: its model sees each replaced result as an error. Results are replaced only if the user asks for that.
	AsErrors bool

	// StatusReplaces: it takes a hook's status other than 0 and 1, as that of a program that is gone, for a wish to replace
	// the result by what the shell says.
	StatusReplaces bool

	// Longest is the size in bytes of the longest text that can replace a result; 0: of any.
	Longest int

	// Read parses a message. kind returns the kind of a tool by its name: read, bash, grep, other and so on.
	Read func(m Message, kind func(tool string) string) (Call, Occasion)

	// Answer returns what replaces a result, nil if it has to stay.
	Answer func(m Message, kind string, r Replacement) any

	// Remind returns the answer that shows the model a text after its context was compacted.
	Remind func(text string) any

	// Add returns the answer that shows the model a text beside the result of a tool that failed; nil: the client has none.
	Add func(text string) any

	// Tell returns the answer that shows the user a text at the end of the model's turn; nil: the client shows none.
	Tell func(text string) any

	// Prelude is the variable that names a file of shell commands, which the client runs before each command of its model;
	// "" if there is none. It is set for the message that a session began.
	Prelude string

	// Running returns the session whose running command writes to the file at a path; nil: not known.
	Running func(path string) (session string, ok bool)
}

// Replaces reports whether the hook can replace the results of another tool than those that read, run commands and search.
func (h *Hooks) Replaces(tool string) bool {
	return slices.ContainsFunc(h.Others, func(name string) bool {
		beginning, all := strings.CutSuffix(name, "*")
		return name == tool || all && strings.HasPrefix(tool, beginning)
	})
}

// Event is one entry of a client's hooks.
type Event struct {
	Name    string
	Matcher string
	Was     string // the matcher that an earlier version wrote; "": the same
	Timeout int    // in the client's unit
}

// Occasion is the event that a message reports.
type Occasion int

const (
	Unconcerned Occasion = iota // nothing to do
	ToolEnded                   // a tool has run, and its result may be replaced
	ToolFailed                  // a tool has run, and a text can be added to its result
	Compacting                  // the context is going to be compacted
	Compacted                   // it was
	NextRequest                 // the messages of the next request, in which old results may be replaced
	Started                     // a session began or goes on, before its first call
	TurnEnded                   // the model has answered, and the user can be told something
)

// Call is a client's report on a call that has ended, and on its session.
type Call struct {
	Session    string
	Folder     string // the agent's
	Transcript string
	Agent      string // the sub-agent's id; "": the main thread
	Role       string // what the sub-agent is, as its definition says
	Parent     string // the transcript of the session around a sub-agent
	ID         string // of the tool call
	Tool       string
	Args       map[string]any
	Text       string // the text that the model would be sent
	First      int    // number of the text's first line in its file; 0 means 1
	Numbered   bool   // the client numbers the lines it shows
	Statusless bool   // the text lacks the exit status that the model would be shown; the transcript has it
	Exit       *int   // status of a command, which the text lacks

	// Where the client cut the text itself.
	Spill   string // path of the file in which it kept the whole; "" if there is none
	SpillIn string // folder of such files of this session
	Clipped bool   // the whole is in the transcript
	Shown   *Ends  // ToolFailed: what it shows of a text that it cut in the middle

	Unchanged bool // the model would be sent no text, only that the lines are as an earlier read showed them

	// Of clients without a readable transcript.
	Prompt string
	Said   []string // the agent's messages, in order
	Ran    []string // the names of the tools that ran in the session

	Trigger  string // Compacting: why
	Messages any    // the session's messages, as opencode's plugins pass them on
}

// Ends are the beginning and the end of a text that a client shows without its middle.
type Ends struct{ Head, Tail string }

// Replacement is the text that takes the place of a result.
type Replacement struct {
	Text string // all of it

	// Part is one range of the result's lines, and a note with the others, for a client that numbers the lines it shows.
	// ok is false if the client cannot show that.
	Part func() (p Part, ok bool)
}

// Part is a range of lines.
type Part struct {
	Text         string
	First, Count int
	Note         string
}

// Message is a message of a client, decoded from JSON.
type Message map[string]any

// Text returns a member that is a text, else "".
func (m Message) Text(name string) string {
	s, _ := m[name].(string)
	return s
}

// texts returns the texts of a member that is a list.
func (m Message) texts(name string) (texts []string) {
	list, _ := m[name].([]any)
	for _, item := range list {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// Child returns a member that is an object, else nil.
func (m Message) Child(name string) Message {
	c, _ := m[name].(map[string]any)
	return c
}

// Integer returns a member that is a number, else 0.
func (m Message) Integer(name string) int {
	n, _ := m[name].(float64)
	return int(n)
}

// mcpText returns the text of an MCP result that is a single text, else "".
func mcpText(response any) string {
	if s, ok := response.(string); ok {
		return s
	}
	if m, ok := response.(map[string]any); ok {
		response = m["content"]
	}
	blocks, _ := response.([]any)
	if len(blocks) != 1 {
		return ""
	}
	block, _ := blocks[0].(map[string]any)
	if Message(block).Text("type") != "text" {
		return ""
	}
	return Message(block).Text("text")
}
