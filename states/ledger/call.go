package ledger

import (
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// Result returns the segment for a result of a client's own tool. Its line range is known if the call
// requested one.
func Result(call history.ToolCall, text string) contextgc.Segment {
	s := contextgc.Segment{Tool: call.Tool, Type: contextgc.Log}
	s.Path, s.FirstLine, s.LastLine = call.FileRead()
	switch {
	case s.LastLine == 0 && s.FirstLine > 1:
		s.LastLine = s.FirstLine + max(tools.CountLines(text), 1) - 1
	case s.LastLine == 0:
		s.FirstLine = 0 // the whole file
	}
	if s.Path != "" || call.Kind == history.Grep {
		s.Type = contextgc.Code
	}
	return s
}
