package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mcp-pruner/cmd/internal/eventlog"
	"mcp-pruner/cmd/internal/mcpserver"
	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/cmd/internal/stdio"
	"mcp-pruner/fsm"
	"mcp-pruner/pruneclient"
	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/states"
	"mcp-pruner/tools"
)

// flushWithin is how long the log may take to be read at the end.
const flushWithin = 500 * time.Millisecond

// serve is the stdio server.
func serve(ctx context.Context, p Process) int {
	started := time.Now()
	config, _, err := settings.Load(settings.FromEnv(p.Env))
	logs := eventlog.New(p.Stderr, fsm.Level(config.LogLevel))
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var server *mcpserver.Server
	if err == nil {
		server, err = newServer(config, p.Env, emit)
	}
	if err != nil {
		emit(fsm.NewEvent("mcp_pruner.start_failed", "", fsm.Facts{"message": oneLine(err)}))
		return exitUsage
	}
	emit(fsm.NewEvent("mcp_pruner.ready", "", fsm.Facts{"root": config.Root}))
	graceful := stdio.Serve(ctx, server, p.Stdin, p.Stdout)
	emit(fsm.NewEvent("mcp_pruner.stopped", "", fsm.Facts{
		"graceful": graceful, "duration_ms": time.Since(started).Milliseconds(),
	}))
	return exitOK
}

// newServer puts the parts together.
func newServer(c settings.Settings, env []string, emit func(fsm.Event)) (*mcpserver.Server, error) {
	offered, err := tools.New(tools.Settings{
		Root: c.Root, PassEnv: c.PassEnv, NonzeroExitAsOutput: c.NonzeroAsOutput, Narrow: c.Tools,
		Env: func() []string { return env },
	})
	if err != nil {
		return nil, err
	}
	pruner, err := newPruner(c)
	if err != nil {
		return nil, err
	}
	store, err := recovery.Open(recovery.Settings{
		TTL: c.RecoveryTTL, MaxBytes: c.RecoveryMaxBytes, File: c.RecoveryStore,
	})
	if err != nil {
		return nil, fmt.Errorf("MCP_PRUNER_RECOVERY_STORE: %w", err)
	}
	pipeline := &states.Pipeline{
		Machine: fsm.MustCompile(fsm.RequestTable()),
		Tools:   offered, Pruner: pruner, Keep: store.Put, RepeatRaw: c.RepeatRaw, Emit: emit,
	}
	if err := addTrace(pipeline, c, emit); err != nil {
		return nil, err
	}
	return mcpserver.New(mcpserver.Config{
		Pipeline: pipeline,
		Version:  buildVersion(), Result: c.Result, AlwaysLoad: c.AlwaysLoad, MaxCalls: c.MaxCalls,
	}), nil
}

// newPruner is where PRUNER_URL says to prune; nil when it is off.
func newPruner(c settings.Settings) (pruneclient.Pruner, error) {
	switch c.PrunerURL {
	case "":
		return nil, nil
	case settings.Embedded:
		return pruneclient.NewEmbedded(c.PrunerTimeout), nil
	}
	pruner, err := pruneclient.NewHTTP(pruneclient.HTTPSettings{
		URL: c.PrunerURL, Timeout: c.PrunerTimeout, MaxInflight: c.PrunerMaxInflight, Threshold: c.PrunerThreshold,
	})
	if err != nil {
		return nil, fmt.Errorf("PRUNER_URL: %w", err)
	}
	return pruner, nil
}

// oneLine puts joined errors on one line, as the log wants them.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
