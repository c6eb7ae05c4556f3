package proxy

import (
	"context"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"
)

// Running is a proxy within another process. Its secret is in no file, and it leaves nothing behind.
type Running struct {
	Address string // without the secret
	Secret  secret.Secret
	server  *server
	stop    func()
	ended   chan struct{}
}

// Start starts a proxy, on any free port unless the options name one.
func Start(ctx context.Context, p command.Process, o Options, emit func(fsm.Event)) (*Running, error) {
	config, _, err := settings.Load(settings.Stdio, nil, p.Lookup)
	if err != nil {
		return nil, err
	}
	l, err := web.Listen(ctx, "127.0.0.1", o.Port)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	command.BoundMemory(p.Lookup, memoryLimit)
	handler, end := assembleProxy(ctx, p, config, o, emit, nil)
	r := &Running{Address: "http://" + l.Addr().String(), Secret: secret.New(), server: handler, stop: stop, ended: make(chan struct{})}
	handler.secret = r.Secret
	go func() {
		defer close(r.ended)
		_, _ = serve(ctx, nil, l, handler, finishWithin) // the client reports what it cannot reach
		end()
	}()
	return r, nil
}

// Close ends the proxy after the answers in progress, and returns its report on itself.
func (r *Running) Close() Health {
	state := r.server.state(context.Background())
	r.stop()
	<-r.ended
	return state
}
