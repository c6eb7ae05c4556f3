package history

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Reach says what leads the agent of a session back to what was left out of a result. What a command printed, a search found or a
// server answered may be cut or cleared only where something does. Hooks, the proxy and replay ask it.
type Reach struct {
	Commands bool   // it can run a command
	Tool     string // our tool that returns a text by its id, and the argument for the id; "": it has none
	Files    bool   // it can read files
}

// ReachBy returns the reach of an agent that has the given tools, by the client's names. ours are the tools of ours that know
// the id, the best one first.
func ReachBy(tools []string, ours ...string) (r Reach) {
	for _, name := range tools {
		r.Commands = r.Commands || runsCommands(name)
		r.Files = r.Files || KindOf(name) == Read
	}
	for _, own := range ours {
		if i := slices.IndexFunc(tools, func(name string) bool { return isOwn(name, own) }); i >= 0 {
			r.Tool = tools[i] + " " + idArguments[own]
			break
		}
	}
	return r
}

// Takes reports whether a tool whose name is that of one which leads back has the parameter for it: a tool of somebody else may have
// such a name, too. parameters is nil if they are not known.
func Takes(tool string, parameters []string) bool {
	var needs []string
	if runsCommands(tool) {
		needs = commandArguments
	}
	for own, argument := range idArguments {
		if isOwn(tool, own) {
			needs = []string{argument}
		}
	}
	return needs == nil || parameters == nil || slices.ContainsFunc(needs, func(name string) bool { return slices.Contains(parameters, name) })
}

// runsCommands reports whether a tool runs commands. A tool of another server could run them anywhere.
func runsCommands(tool string) bool {
	name := strings.ToLower(tool)
	return KindOf(name) == Bash && name != agent.CodexWaits || name == agent.CodexCode
}

// isOwn reports whether a client's name for a tool means one of ours. A gateway may offer recover_text under another name than ours.
func isOwn(tool, own string) bool {
	name, ok := strings.CutSuffix(strings.ToLower(tool), own)
	return ok && (own != ReadTool || ofOwnServer(tool) && strings.TrimRight(name, "_-") != name)
}

// Recovers reports whether the agent can get any text back.
func (r Reach) Recovers() bool { return r.Commands || r.Tool != "" }

// Leads reports whether the agent can get back what is left out of a call's result. A file can be read again.
func (r Reach) Leads(c ToolCall) bool {
	return r.Recovers() || r.Files && c.Kind == Read && c.File != ""
}

// LeadsToWritten reports the same of the text that a call wrote into a file. Of an edit the file does not tell what was there before.
func (r Reach) LeadsToWritten(c ToolCall) bool {
	return r.Recovers() || r.Files && c.Kind == Write && c.File != ""
}
