package assemble

import (
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/service"
	"github.com/mcp-pruner/mcp-pruner/states"
)

// Pruner builds the server of the toolset text, and returns the service that its tools use. close closes the
// service's store.
func Pruner(o Options) (s *mcpserver.Server, lines *service.Service, close func(), err error) {
	store, err := openStore(o)
	if err != nil {
		return nil, nil, nil, err
	}
	config := service.Settings{Store: store, MaxInputChars: o.Settings.MaxInputChars, Version: o.Version}
	if o.Settings.Cloud != nil {
		if config.Reranker, err = deepinfra.New(*o.Settings.Cloud); err != nil {
			return nil, nil, nil, err
		}
	}
	lines = service.New(config)
	machine, err := fsm.Compile(fsm.HTTPRequestTable())
	if err != nil {
		return nil, nil, nil, err
	}
	pipeline := &states.Pipeline{Machine: machine, Tools: mcpserver.TextTools(lines), Emit: o.Emit}
	if err := addTrace(pipeline, o); err != nil {
		return nil, nil, nil, err
	}
	answered := addTelemetry(pipeline, o)
	s = mcpserver.New(mcpserver.Config{
		Pipeline: pipeline, Version: o.Version, Result: "auto", AlwaysLoad: true, MaxCalls: o.Settings.MaxCalls, Answered: answered,
	})
	return s, lines, func() { _ = store.Close() }, nil
}
