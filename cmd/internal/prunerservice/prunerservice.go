// Package prunerservice is "mcp-pruner pruner": the line pruner over HTTP on this
// machine, for every client of the documented contract and of the swe-pruner one.
package prunerservice

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"mcp-pruner/pruneclient/deepinfra"
	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/pruneclient/service"
)

const (
	exitOK    = 0
	exitFail  = 1
	exitUsage = 2
)

// goodbye is how long calls under way may take to end when the service is told to.
const goodbye = 2 * time.Second

const help = `Serves the line pruner over HTTP on this machine: POST /rpc (prune_text,
recover_text, health), POST /prune (the swe-pruner contract) and GET /health.

usage:
  mcp-pruner pruner [--host 127.0.0.1] [--port 8006]

Port 0 takes any free one; the address is in the first line on standard error.

examples:
  mcp-pruner pruner
  mcp-pruner pruner --port 8000      # where PRUNER_URL points by default
  curl -s http://127.0.0.1:8006/health

Settings come from the environment; docs/LINE-PRUNER.md describes them.
`

// Run serves until ctx ends and returns the exit code. args come without the verb.
func Run(ctx context.Context, version string, args, env []string, stdout, stderr io.Writer) int {
	log := newLog(stderr)
	settings, err := loadSettings(args, env, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		log("pruner_service.start_failed", map[string]any{"message": err.Error()})
		return exitUsage
	}
	for _, note := range settings.Notes {
		log("pruner_service.warning", map[string]any{"message": note})
	}
	settings.Recovery.Report = func(m string) { log("pruner_service.warning", map[string]any{"message": m}) }
	store, err := recovery.Open(settings.Recovery)
	if err != nil {
		log("pruner_service.start_failed", map[string]any{"message": "MCP_PRUNER_RECOVERY_STORE: " + err.Error()})
		return exitUsage
	}
	defer func() { _ = store.Close() }()
	if err := serve(ctx, version, settings, store, log); err != nil {
		log("pruner_service.start_failed", map[string]any{"message": err.Error()})
		return exitFail
	}
	return exitOK
}

// serve builds the service, listens, and returns when ctx has ended and calls
// under way have had their time to.
func serve(ctx context.Context, version string, s Settings, store *recovery.Store, log func(string, map[string]any)) error {
	config := service.Settings{Store: store, MaxInputChars: s.MaxInputChars, Version: version}
	if s.DeepInfra != nil {
		var err error
		if config.Reranker, err = deepinfra.New(*s.DeepInfra); err != nil {
			return err
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port)))
	if err != nil {
		return err
	}
	boundMemory(s.Recovery.MaxBytes)
	handler := newServer(service.New(config), version, log).handler()
	defer spareThreads()()
	log("pruner_service.ready", map[string]any{"address": "http://" + listener.Addr().String(), "backend": backend(s)})
	err = listenUntil(ctx, listener, handler)
	log("pruner_service.stopped", map[string]any{"graceful": err == nil})
	return nil
}

// boundMemory keeps the collector from letting the heap grow to twice a full
// store: originals, the requests being worked on, as much again for those, and
// what is recovered.
func boundMemory(store int64) {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // unless GOMEMLIMIT says otherwise
		debug.SetMemoryLimit(store + 2*bodyBudget + answerBudget)
	}
}

// spare is how many more threads than processors run Go.
const spare = 2

// spareThreads lets more threads run Go than there are processors, unless GOMAXPROCS
// says how many, and returns what undoes that. Go puts whoever wakes behind what is
// ready to run; the system lets a thread that wakes run at once. So the thread that
// answers /health does not wait for large texts.
func spareThreads() (undo func()) {
	if os.Getenv("GOMAXPROCS") != "" {
		return func() {}
	}
	before := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(before + spare)
	return func() { runtime.GOMAXPROCS(before) }
}

// listenUntil serves until ctx ends. The error is that some call did not end in
// time and was cut off.
func listenUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	srv := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	err := srv.Shutdown(last)
	if err != nil {
		_ = srv.Close()
	}
	<-served
	return err
}

func backend(s Settings) string {
	if s.DeepInfra != nil {
		return "deepinfra"
	}
	return "heuristic"
}

// newLog writes events as the rest of the product does: one JSON object a line.
// They never hold a text, a goal or a key.
func newLog(w io.Writer) func(event string, data map[string]any) {
	var mu sync.Mutex
	return func(event string, data map[string]any) {
		level := "info"
		switch event {
		case "pruner_service.start_failed", "pruner_service.panic":
			level = "error"
		case "pruner_service.warning":
			level = "warn"
		}
		line, err := json.Marshal(struct {
			TS    string         `json:"ts"`
			Level string         `json:"level"`
			Event string         `json:"event"`
			Data  map[string]any `json:"data"`
		}{time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), level, event, data})
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		_, _ = fmt.Fprintln(w, string(line))
	}
}
