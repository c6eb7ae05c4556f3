// Package service is what the line pruner offers as tools: prune_text,
// recover_text, health, and the swe-pruner contract. It knows no transport; its
// arguments come as decoded JSON and its results are ready to be encoded.
package service

import (
	"runtime"
	"time"

	"mcp-pruner/pruneclient/deepinfra"
	"mcp-pruner/pruneclient/recovery"
)

// DefaultMaxInputChars is the longest text that is looked at, in code points.
const DefaultMaxInputChars = 2_000_000

// Settings are what a Service is built from.
type Settings struct {
	Store         *recovery.Store   // keeps the originals; required
	Reranker      *deepinfra.Client // nil: the heuristic alone
	MaxInputChars int               // 0 means DefaultMaxInputChars
	Version       string            // told by Health

	// Concurrency is how many texts are worked on at once; more wait, within their
	// own time limit. 0 leaves one processor free, so that health checks are
	// answered while every prune is busy.
	Concurrency int

	Now func() time.Time // nil means time.Now
}

// Service prunes and recovers. It is safe for concurrent use.
type Service struct {
	settings Settings
	slots    chan struct{} // one token per text being worked on
	counters counters
}

// New returns a Service over s.Store, which stays the caller's to close.
func New(s Settings) *Service {
	if s.MaxInputChars == 0 {
		s.MaxInputChars = DefaultMaxInputChars
	}
	if s.Concurrency == 0 {
		s.Concurrency = max(1, runtime.GOMAXPROCS(0)-1)
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Service{settings: s, slots: make(chan struct{}, s.Concurrency)}
}
