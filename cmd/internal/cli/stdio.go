package cli

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"mcp-pruner/cmd/internal/assemble"
	"mcp-pruner/cmd/internal/eventlog"
	"mcp-pruner/cmd/internal/mcpserver"
	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/cmd/internal/stdio"
	"mcp-pruner/fsm"
)

// flushWithin is how long the log may take to be read at the end.
const flushWithin = 500 * time.Millisecond

// Small requests live on garbage that is soon gone, so the collector may wait for
// some more of it; huge outputs must not let the heap grow to a multiple of them.
const (
	gcPercent   = 300
	memoryLimit = 80 << 20
)

// boundMemory sets the collector, unless the user did.
func boundMemory(env settings.Lookup, limit int64) {
	if _, set := env("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
	if _, set := env("GOMEMLIMIT"); !set {
		debug.SetMemoryLimit(limit)
	}
}

// serveStdio serves over standard input and output: the program without a verb.
func serveStdio(ctx context.Context, p Process) int {
	started := time.Now()
	boundMemory(settings.FromEnv(p.Env), memoryLimit)
	config, _, err := settings.Load(settings.FromEnv(p.Env))
	logs := eventlog.New(p.Stderr, fsm.Level(config.LogLevel))
	defer logs.Close(flushWithin)
	emit := logs.Emit
	var server *mcpserver.Server
	if err == nil {
		server, err = assemble.Server(assemble.Options{
			Settings: config, Env: p.Env, Version: buildVersion(), Emit: emit, Table: fsm.RequestTable(),
		})
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

// oneLine puts joined errors on one line, as the log wants them.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
