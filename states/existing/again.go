package existing

import (
	"fmt"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// Again is the way back in a session in which only the call itself leads back: a file is read again.
const Again = "again"

// ByHash is the way back that LiteLLM offers its model, without the hash.
const ByHash = "headroom_retrieve hash="

// BackOf returns what leads an agent back, without the id: the command, if it can run one, or a tool of ours.
func BackOf(reach history.Reach, command func() string) string {
	switch {
	case reach.Commands:
		return command()
	case reach.Tool != "":
		return reach.Tool
	}
	return Again
}

// WayOf returns the way back to the text with an id.
func WayOf(back, id string) string {
	switch {
	case back == Again:
		return Again
	case back == ByHash:
		return back + recovery.Hash(id)
	}
	return back + " " + id
}

// ofTool reports whether a way back is a tool of ours rather than a command.
func ofTool(way string) bool {
	words := strings.Fields(way)
	return strings.HasPrefix(way, ByHash) || len(words) > 1 && history.TakesID(words[len(words)-2])
}

const againHeader = "[%d of %d lines; rest: read that range of the file again]"

// headLine returns the first line of a pruned text. The options of a command are none of a tool.
func headLine(c Cut, way string) string {
	switch {
	case way == Again:
		return fmt.Sprintf(againHeader, len(c.Kept), c.Total)
	case ofTool(way):
		return strings.NewReplacer("; rest: ", "; all: ", " --lines A-B", "").Replace(Header(c, way))
	}
	return Header(c, way)
}

// IsCut reports whether a text begins with the first line of a pruned text.
func IsCut(text string) bool {
	var kept, total int
	n, _ := fmt.Sscanf(text[:min(len(text), maxFrame)], againHeader, &kept, &total)
	return n == 2 && strings.HasPrefix(text, fmt.Sprintf(againHeader, kept, total)) || CutID(text) != ""
}
