package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools"
)

// Config configures a server.
type Config struct {
	Pipeline *states.Pipeline

	// List returns the tools offered to a client, if they depend on the client or change while the server
	// runs. nil: the pipeline's tools.
	List func(client string) []tools.Tool

	Version    string
	Result     string // auto, full or text
	AlwaysLoad bool   // asks Claude to load the tools' schemas at the start
	MaxCalls   int    // tool calls that run at once
	MaxEach    int    // of those, calls of one session to its own tools or to one upstream; 0: no limit

	InvalidParams string // auto, protocol or tool: how invalid arguments are answered
	Instructions  string // what the tools are for, addressed to models; "": none

	// Instruct returns the instructions for a client, if they depend on the client; nil: Instructions.
	Instruct func(client string) string

	// Answered is told of each answered request other than a tool call: its JSON-RPC error code, 0 for a
	// result, and how long it took until its answer was written. nil: nobody is told.
	Answered func(method string, code int, took time.Duration)

	// Notified receives the clients' notifications other than cancellations, and reports whether it told somebody; nil: they
	// are ignored.
	Notified func(client *Caller, method string, params json.RawMessage) (told bool)

	// Features are the server's resources, prompts and the like; nil: it has only tools.
	Features *Features

	form Form // set by Mount
}

// Features are the resources, prompts and other features of a server beside its tools.
type Features struct {
	// Greet is called with each client that introduces itself, by initialize or, in protocol 2026-07-28, by any request.
	Greet func(ctx context.Context, c *Caller)

	// Await waits for whatever is to list a tool that is called, if that is not known yet, and returns why it cannot; nil: all
	// is known.
	Await func(ctx context.Context, tool string) (why string)

	// End is called with the client of a session that has ended.
	End func(c *Caller)

	// Offered returns the features that exist for a client.
	Offered func() Offered

	// Answer answers a request of one of the methods in featureMethods.
	Answer func(ctx context.Context, c *Caller, method string, params json.RawMessage) (json.RawMessage, *tools.RPCError)

	// Watch sends the client the updates of resources until end is called. It returns the URIs that are watched.
	Watch func(ctx context.Context, c *Caller, uris []string, updated func(uri string)) (watched []string, end func())
}

// Offered says which features a server announces beside lists of resources and prompts, which it always does.
type Offered struct {
	Subscribe, Completions, Logging, Tasks bool
}
