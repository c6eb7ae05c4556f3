package hook

import (
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// finished is a client's message about a finished tool call.
type finished struct {
	agent.Call
	bytes   int    // size of the message that carries the text
	preview string // what the client would show of a text of which it shows only a part
}

// shown returns the text that the client would have shown its model.
func (f finished) shown(body existing.Body) string {
	switch {
	case f.preview != "":
		return f.preview
	case !f.Numbered:
		return f.Text
	}
	return body.Text()
}

// sent returns the text that the model is sent in place of the whole result.
func (f finished) sent(r *existing.Replacement, body existing.Body) string {
	return existing.Sent(body, r.Cut, f.Numbered, r.Way)
}

func (f finished) body(call history.ToolCall) existing.Body {
	if !f.Numbered {
		return existing.ResultBody(call, f.Text)
	}
	return existing.BodyOf(f.Text, max(f.First, 1))
}

// Clients show only a part of a long output. The hook finds the whole where the client has put it, and selects from that.
const (
	maxSpill = 64 << 20 // bytes of the largest file that is read
	mostLong = 1_700    // tokens that are selected from an output of which the client shows a part
)

// whole takes the place of an output of which the client gave the hook only a part. It returns false if the whole cannot be
// had. What the client would show becomes f.preview.
func (f *finished) whole(r *existing.Result) bool {
	switch {
	case f.Spill != "":
		text, err := files.ReadPrivate(f.SpillIn, f.Spill, maxSpill)
		if err != nil {
			return false
		}
		f.preview = f.Text[:min(len(f.Text), previewBytes)]
		f.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	case f.Clipped:
		text, ok := sessions.CommandOutput(f.Transcript, f.ID, f.Text)
		if !ok {
			return false
		}
		f.preview, f.Text = f.Text, text
	default:
		return true
	}
	r.Most = mostLong
	return true
}

// previewBytes is the size of what Claude Code shows of an output that it writes to a file.
const previewBytes = 2_000
