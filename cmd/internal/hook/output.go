package hook

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// output is what a tool has printed, from which the hook selects.
type output struct {
	text    string
	body    existing.Body
	preview string // what the client would show of the text; "": all of it
	most    int    // tokens that are selected from the text; 0: no limit of its own
}

// Clients show only a part of a long output. The hook finds the whole where the client has put it, and selects from that.
const (
	maxSpill     = 64 << 20 // bytes of the largest file that is read
	mostLong     = 1_700    // tokens that are selected from an output of which the client shows a part
	previewBytes = 2_000    // size of what Claude Code shows of an output that it writes to a file
)

// outputOf returns what a message and the file that it names say of a tool's output. ok is false if the file cannot be read.
func outputOf(msg message) (o output, ok bool) {
	text := msg.call.Text
	if msg.call.Exit != nil {
		text = existing.WithStatus(*msg.call.Exit, text)
	}
	if msg.call.Spill == "" {
		return msg.output(text), true
	}
	whole, err := files.ReadPrivate(msg.call.SpillIn, msg.call.Spill, maxSpill)
	if err != nil {
		return output{}, false
	}
	o = msg.output(strings.ToValidUTF8(string(whole), "\uFFFD"))
	o.preview, o.most = text[:min(len(text), previewBytes)], mostLong
	return o, true
}

// output returns a text in the form in which the client shows it.
func (msg message) output(text string) output {
	if msg.call.Numbered {
		return output{text: text, body: existing.BodyOf(text, max(msg.call.First, 1))}
	}
	return output{text: text, body: existing.ResultBody(msg.tool, text)}
}

// completed returns an output with what only the transcript has: the exit status, and the whole of a text that the client clipped. ok
// is false if the transcript lacks them: without its status a failed command would look like one that succeeded.
func (o output) completed(msg message, t transcript) (whole output, ok bool) {
	if !msg.call.Statusless {
		return o, true
	}
	status, ok := t.Exits[t.id]
	if !ok {
		return o, false
	}
	if !msg.call.Clipped {
		return msg.output(existing.WithStatus(status, o.text)), true
	}
	text, ok := sessions.CommandOutput(t.path, t.id, o.text)
	if !ok {
		return o, false
	}
	whole = msg.output(existing.WithStatus(status, text))
	whole.preview, whole.most = o.text, mostLong
	return whole, true
}

// shown returns the text that the client would have shown its model.
func (o output) shown(c agent.Call) string {
	switch {
	case o.preview != "":
		return o.preview
	case !c.Numbered:
		return o.text
	}
	return o.body.Text()
}
