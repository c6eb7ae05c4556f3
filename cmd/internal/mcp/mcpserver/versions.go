package mcpserver

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
)

// Name is the server's name in initialize.
const Name = "@jeeves/mcp-pruner"

// Versions are the supported protocol versions, newest first. 2025-03-26 is not supported, because it
// requires batches.
var Versions = slices.DeleteFunc(slices.Clone(mcp.ValidProtocolVersions), func(v string) bool { return v == mcp.ProtocolVersion20250326 })

// agreed returns the version with which initialize is answered: the one that the client asked for, else the newest one before it,
// because a client knows none after its own. Versions are dates, so that they sort as texts.
func agreed(asked string) string {
	for _, v := range Versions {
		if v <= asked && !mcp.IsModernProtocol(v) { // the modern ones have no initialize
			return v
		}
	}
	return Versions[len(Versions)-1]
}
