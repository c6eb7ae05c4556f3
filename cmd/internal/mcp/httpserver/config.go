package httpserver

import (
	"context"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// Config configures a handler.
type Config struct {
	Server  *mcpserver.Server
	Version string
	Emit    func(fsm.Event) // receives events about connection errors; nil: they are dropped
	Gate    *web.Gate       // admits the callers, each of whom has to send a bearer token except for GET /healthz and /readyz; nil: none has to
	Access  web.Access      // from where requests may come; zero: from this machine

	Replicas Replicas      // the other processes behind the same address; nil: there are none
	Key      func() []byte // without them, returns what authenticates the ids of sessions; nil, or no key: they end with this process

	Database func(context.Context) error // why what outlives the process cannot be used; nil: it is not in a database

	Pruner *Pruner // the line pruner's endpoints in addition to /mcp; nil: none

	BodyWithin  time.Duration // time limit for a request's body; 0: 30 s
	WriteWithin time.Duration // time limit for writing its answer; 0: 60 s

	FinishWithin time.Duration // time limit for requests in progress when the server ends; 0: 5 s
}

// finishWithin is the time limit for requests in progress when the server ends, unless configured.
const finishWithin = 5 * time.Second

// Replicas connects the processes behind one address.
type Replicas interface {
	// Announce tells all of them something, and reports whether one could act on it.
	Announce(ctx context.Context, topic string, payload []byte) (heard bool, err error)
	// Hear calls act with what is announced about a wanted topic, until ctx ends.
	Hear(ctx context.Context, wanted func(topic string) bool, act func(topic string, payload []byte) bool)
	// SharedKey returns a random key that all of them have.
	SharedKey(ctx context.Context, name string) ([]byte, error)
}
