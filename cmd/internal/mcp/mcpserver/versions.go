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
