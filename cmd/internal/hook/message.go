package hook

import (
	"io"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// maxInput is the largest number of bytes of a client's message.
const maxInput = 64 << 20

// message is a client's message.
type message struct {
	client   *agent.Client
	object   agent.Message
	bytes    int // of the message
	occasion agent.Occasion
	call     agent.Call
	tool     history.ToolCall // what the call does
}

// read reads a message. ok is false if it is too long, or cannot be read.
func read(c *agent.Client, in io.Reader) (msg message, ok bool) {
	raw, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	if err != nil || len(raw) > maxInput {
		return message{}, false
	}
	msg = message{client: c, bytes: len(raw), object: object(raw)}
	msg.call, msg.occasion = c.Hooks.Read(msg.object, kindOf)
	msg.tool = history.ParseCall(msg.call.Tool, msg.call.Args)
	return msg, true
}

func kindOf(tool string) string { return string(history.KindOf(tool)) }

// object decodes a message. It returns nil if that is not a JSON object.
func object(message []byte) agent.Message {
	value, _ := jsonspan.DecodeFloats(message)
	m, _ := value.(map[string]any)
	return m
}
