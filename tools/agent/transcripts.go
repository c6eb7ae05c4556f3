package agent

import "time"

// Transcripts are a client's records of its sessions: files of JSON lines, documents, or a database.
type Transcripts struct {
	Folder string  // below Files.Folder; "": they cannot be read
	In     *Folder // another folder than Files.Folder

	// Database is the pattern of the names of databases, beside Folder; "" if there are none.
	Database string

	// Document is how a transcript that is one JSON document is read; nil: there are none.
	Document *Document

	// Of returns the path of a session's transcript below Folder, for a client whose hooks are not told it; nil: they are.
	Of func(session string) string

	Lines Lines
	Steps func(line []byte) []Step // OwnLines: the steps of a line, none if it has no meaning here

	// Head returns what the first line of a transcript says of its session; ok is false if the line begins none of this client.
	// Nil: the client's transcripts begin with a step.
	Head func(line []byte) (h Head, ok bool)
}

// Document is a format of transcripts that are one JSON document each.
type Document struct {
	Suffix string // of their names
	About  string // stands in the suffix's place in the name of the file that says where and when the session was

	// Read returns what the two files say of a session; ok is false if the text is no transcript of this client.
	Read func(text, about []byte) (h Head, steps []Step, ok bool)
}

// Head holds the facts that a transcript states about its session.
type Head struct {
	ID, Project, Version string
	Begun                string // as in RFC 3339
}

// Lines is the format of the lines of transcripts.
type Lines int

const (
	OwnLines    Lines = iota // Steps reads them
	ClaudeLines              // as of Claude Code
	CodexLines               // as of Codex
)

// StepKind is the kind of a step.
type StepKind string

// Step is one step of a session.
type Step struct {
	Kind StepKind

	Text  string // user, say, attach
	Think string // say

	Usage *Usage // call; nil if the transcript has none
	Model string // call; "" if the transcript does not name it
	Type  string // attach: what it is

	At time.Duration // call: since the session began; 0 if the transcript does not say

	Stamp string // call: the same as a time in RFC 3339, of transcripts that have that

	ID   string // use, result: of the tool call
	Tool string // use, result
	Args map[string]any
	Out  string // result: the text that the model was shown
	Err  bool   // result: the client marked it as an error
}

// The kinds of steps.
const (
	User    StepKind = "user"    // a message of the person
	Turn    StepKind = "call"    // a model call; the says and uses that follow are its answer
	Say     StepKind = "say"     // a message or the reasoning of the model
	Use     StepKind = "use"     // a tool call
	Result  StepKind = "result"  // the tool's result
	Compact StepKind = "compact" // the context was summarised: it contains nothing from before
	Drop    StepKind = "drop"    // the client took the result of the call with the ID out of the prompts from here on
	Attach  StepKind = "attach"  // what the client added by itself, such as a list of skills or a changed file
)

// Usage is the API's token counts for one model call. Input excludes tokens read from or written to the
// cache.
type Usage struct {
	Input, CacheWrite, CacheRead, Output int

	Hour int // the part of CacheWrite that the cache keeps for an hour
}

// Prompt returns the number of tokens of the whole prompt.
func (u Usage) Prompt() int { return u.Input + u.CacheWrite + u.CacheRead }
