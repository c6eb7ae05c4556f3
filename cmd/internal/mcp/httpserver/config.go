package httpserver

import (
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
)

// Config configures a handler.
type Config struct {
	Server  *mcpserver.Server
	Version string
	Emit    func(event.Event) // receives events about connection errors; nil: they are dropped
	Keys    auth.Keys         // of the bearer tokens, one of which every request except GET /healthz has to carry; nil: none has to

	Pruner *Pruner // the line pruner's endpoints in addition to /mcp; nil: none

	BodyWithin  time.Duration // time limit for a request's body; 0: 30 s
	WriteWithin time.Duration // time limit for writing its answer; 0: 60 s

	FinishWithin time.Duration // time limit for requests in progress when the server ends; 0: 5 s
}

// finishWithin is the time limit for requests in progress when the server ends, unless configured.
const finishWithin = 5 * time.Second
