// Package clearing replaces tool results in the requests of an agent to its model: old ones that the planner cleared by
// stubs, and new ones by their pruned texts. The proxy and the plugin of opencode share it.
package clearing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// Engine decides what replaces the results in a request. Decisions are held in memory and in the store. They are stored
// before they are applied, so that a restarted proxy sends the same bytes. Its first fields are to be set before its use.
type Engine struct {
	Store   contextgc.Ledger
	Index   Index
	Printed recovery.Printed // what agents of this machine have brought back, which is not pruned
	Machine existing.Machine // through which replaced results go; Client, Session and Keep are not used
	Runs    *Runs
	Back    func(client string) string // the command that recovers a text, without the id; nil: existing.DefaultBack
	Policy  contextgc.Policy
	Clears  bool // clears old results
	Prunes  bool // prunes new results
	Others  history.OtherTools
	Now     func() time.Time
	Report  func(error)   // told once that the ledger is lost; nil: nobody
	SyncLog func()        // waits, for a bounded time, until all events so far are written; nil: nothing to wait for
	Hurry   time.Duration // how long a request waits until it is stored that nothing is decided; 0: 250 ms

	keys     wire.Keyring
	known    sizes
	warm     warmth
	lost     atomic.Bool
	deciding [1024]sync.Mutex // by mark: one history that several requests have at once is decided by one of them
	flushing sync.Mutex       // held by Flush

	mu       sync.Mutex
	groups   map[wire.Key]*group   // decisions, by id
	heads    map[wire.Key]wire.Key // by mark
	unstored map[wire.Key]wire.Key // heads that are not in the store yet
	loaded   int64                 // number of the last decision loaded from the store
	stored   int64                 // how many decisions up to it the store had
	since    int                   // how many this process has stored since then
	pinned   map[[32]byte]bool
	looked   time.Time         // time of the latest check of the store for other processes' decisions
	later    []contextgc.Entry // originals that no request waits for
}

// decision is the text that replaces a result.
type decision struct {
	text    string
	tokens  int
	free    bool
	indexed *atomic.Bool // this process has found its id in the index
}

// change is a planned replacement of a result.
type change struct {
	result  *wire.Result
	write   func(id string) string // returns the replacement, which names the original by its id
	segment string                 // of the ledger, with the original
	id      string                 // by which the agent recovers the original
	why     string
}

// Outcome is the rewritten request and its statistics.
type Outcome struct {
	wire.Replaced
	Fresh int // number of results whose replacement was decided in this request
	Bill  contextgc.ClearingBill
	Why   string
	Stuck int // tokens of results that stay because the agent has no tool that would bring them back

	Changed bool // the cache seemed not to have all that the session had sent
	wide    bool // it appends so many blocks that our mark stands at the end of the request before

	place  []wire.Key // marks of the place at which the request was made
	before int        // tokens of the prompt before this one, as it was sent
	size   int        // tokens of this one
}

// ErrLost means that the ledger was removed or replaced. The ids in the stubs then lead nowhere.
var ErrLost = errors.New("the ledger was removed or replaced while the proxy runs")

// Load reads other processes' decisions from the store, at most once per second. It returns ErrLost from the moment on
// at which the ledger was found to be lost.
func (e *Engine) Load(ctx context.Context) error {
	if e.lost.Load() || e.Store.Lost() {
		e.forget()
		return ErrLost
	}
	e.mu.Lock()
	fresh := e.groups != nil && e.Now().Sub(e.looked) < time.Second
	e.mu.Unlock()
	if fresh {
		return nil
	}
	return e.reload(ctx)
}

// forget drops every decision, because their originals are in the requests only.
func (e *Engine) forget() {
	if e.lost.Swap(true) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.groups, e.heads, e.unstored = make(map[wire.Key]*group), make(map[wire.Key]wire.Key), make(map[wire.Key]wire.Key)
	if e.Report != nil {
		e.Report(e.Lost())
	}
}

// Lost returns the error that the ledger is lost, with its name.
func (e *Engine) Lost() error {
	return fmt.Errorf("%w (%s): results are sent whole", ErrLost, e.Store.Name())
}

// ready reads what other processes have stored.
func (e *Engine) ready(ctx context.Context) error {
	if err := e.Load(ctx); err != nil {
		return err
	}
	return e.Runs.alone.read(ctx, e.Store, e.Now())
}

func (e *Engine) reload(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.groups == nil { // a start reads no decision: lookup does, when a history needs one
		last, err := e.Store.Last(ctx)
		if err != nil {
			return err
		}
		if e.stored, err = e.Store.Count(ctx, last); err != nil {
			return err
		}
		e.loaded = last
	}
	list, last, pinned, err := e.Store.Clearings(ctx, e.loaded)
	if err != nil {
		return err
	}
	if e.groups == nil {
		e.groups, e.heads, e.unstored = make(map[wire.Key]*group), make(map[wire.Key]wire.Key), make(map[wire.Key]wire.Key)
	}
	n, err := e.Store.Count(ctx, last)
	if err != nil {
		return err
	}
	if n < e.stored+int64(max(len(list), e.since)) { // the ledger was cleaned: stubs of what is gone would lead nowhere; lookup reads the rest again
		e.groups, e.heads = make(map[wire.Key]*group), make(map[wire.Key]wire.Key)
	}
	e.loaded, e.stored, e.since, e.pinned, e.looked = last, n, 0, pinned, e.Now()
	e.learn(list)
	return nil
}

// stayWithin is Hurry, unless it is set.
const stayWithin = 250 * time.Millisecond

// leftOut is what a decision to leave out thinking has in place of a stub. Nothing stands in its place.
const leftOut = "[cleared thinking]"
