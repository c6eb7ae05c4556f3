// Package service implements the tools of the line pruner: prune_text, recover_text,
// health, and the swe-pruner contract. It knows no transport: arguments are decoded JSON,
// and results are ready to be encoded.
package service

import (
	"cmp"
	"context"
	"runtime"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/deepinfra"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
)

// defaultMaxInputChars is the default maximum length of a text to prune, in code points.
const defaultMaxInputChars = 2_000_000

// Settings configure a Service.
type Settings struct {
	Store         *recovery.Store   // keeps the originals; required
	Reranker      *deepinfra.Client // nil: use the heuristic only
	MaxInputChars int               // 0 means defaultMaxInputChars
	Version       string            // reported by Health

	// Concurrency is the maximum number of texts processed at once; others wait within
	// their own time limits. 0 leaves one processor free, so that health checks are
	// answered even if every slot is in use.
	Concurrency int

	Now func() time.Time // nil means time.Now
}

// Service prunes and recovers texts. It is safe for concurrent use.
type Service struct {
	settings Settings
	slots    chan struct{} // one token per text being processed
	turns    turns
	counters counters
	usable   func(context.Context) error // see While; nil: always
}

// While lets PruneCode cut only while usable returns no error: its callers keep the originals where that says they cannot. It is to be
// called before the first request.
func (s *Service) While(usable func(context.Context) error) { s.usable = usable }

// New returns a Service over s.Store, which the caller must close.
func New(s Settings) *Service {
	s.MaxInputChars = cmp.Or(s.MaxInputChars, defaultMaxInputChars)
	s.Concurrency = cmp.Or(s.Concurrency, max(1, runtime.GOMAXPROCS(0)-1))
	if s.Now == nil {
		s.Now = time.Now
	}
	return &Service{settings: s, slots: make(chan struct{}, s.Concurrency)}
}
