package lineprune

import (
	"cmp"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/rank"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/structure"
)

// askedWhole returns why a text was asked for as a whole, or "". Hooks, the proxy, replay, this program's tools, the gateway
// and the verb prune all come here, so that none of them gives an agent half of a list.
func askedWhole(t *rank.Text, question string, opts Options) string {
	call := opts.call()
	file, lines := cmp.Or(opts.File, call.File()), len(t.Doc.Lines)
	switch why := call.Whole(lines); {
	case why != "":
		return why
	case file != "" && lines <= session.ShortFile && t.Data == nil && opts.calls() && !call.Asked:
		return "a short file"
	case opts.calls() && t.Kind == Grep && structure.ListsPaths(t.Doc):
		return "a list of names or counts"
	case rank.AsksForAll(call, question) && isOfRecords(t, file != ""):
		return "all of its records were asked for"
	}
	return ""
}

// call returns the call. Its command may be known without its other arguments, from Options.Command.
func (o Options) call() session.Origin {
	call := o.Call
	if call.Command() == "" && o.Command != "" {
		call.Args = map[string]any{"command": o.Command, "description": call.About()}
	}
	return call
}
