package proxy

import "github.com/mcp-pruner/mcp-pruner/cmd/internal/command"

// RunVerb runs a verb of the program. The tests of this package cannot import the verbs, which import it: verbs_test.go does.
var RunVerb func(p command.Process) int
