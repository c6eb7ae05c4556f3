package assemble

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// History is a ledger that a person looks at. It is only read: neither a file, a table nor a row is created or changed. The zero
// value is empty.
type History struct {
	ledger *store.Ledger // nil: there is none
	db     *store.DB     // nil: the ledger is in a file
	owner  string        // the subject whose sessions are read
	failed error         // why nothing can be read
}

const (
	historyPatience = 2 * time.Second  // how long a page waits for a database
	historyRest     = 10 * time.Second // how long it does without one that could not be reached
)

// OpenHistory opens the history of a subject, "" for the owner of the machine, in the ledger that given names, else the
// environment, else in the user's own. A database need not be there yet. The history can be used, and says the error, even if
// there is one.
func OpenHistory(given, owner string, lookup settings.Lookup) (History, error) {
	h, err := openHistory(given, owner, lookup)
	if err != nil {
		return History{failed: err}, err
	}
	return h, nil
}

func openHistory(given, owner string, lookup settings.Lookup) (h History, err error) {
	place, name, err := LedgerPlace(given, lookup)
	if err != nil {
		return h, err
	}
	if place.Shared() {
		s := place.Database
		s.Patience, s.Rest = historyPatience, historyRest
		db, err := store.Open(s)
		if err != nil {
			return h, err
		}
		return History{ledger: store.LedgerIn(db, db.Now), db: db, owner: owner}, nil
	}
	if owner != "" {
		return h, errors.New("--subject: a ledger in a file has no subjects, only one in a database")
	}
	if given != "" {
		_, err = os.Stat(name) // nothing is created for it
	}
	return History{ledger: store.ReadLedger(name)}, err
}

// Close closes the database.
func (h History) Close() error {
	if h.db == nil {
		return nil
	}
	return h.db.Close()
}

// Session returns what was cleared in a session, in order, and its usage. Without such a session there is nothing.
func (h History) Session(ctx context.Context, session string) ([]contextgc.Cleared, contextgc.Usage, error) {
	if h.ledger == nil {
		return nil, contextgc.Usage{}, h.failed
	}
	list, u, err := h.ledger.Session(agent.WithSubject(ctx, h.owner), session)
	return list, u, h.inDatabase(err)
}

// Usages returns the usage of every session, latest first.
func (h History) Usages(ctx context.Context) ([]contextgc.Usage, error) {
	if h.ledger == nil {
		return nil, h.failed
	}
	list, err := h.ledger.Usages(agent.WithSubject(ctx, h.owner))
	return list, h.inDatabase(err)
}

// Text returns the text with an id that a database has, and the number of its first line, or recoveryErrNotFound. Texts of
// ledgers in files are found by ledger.Original.
func (h History) Text(ctx context.Context, id string) (text string, first int, err error) {
	if h.db == nil {
		return "", 0, recovery.ErrNotFound
	}
	text, first, err = store.Shown{DB: h.db}.Text(agent.WithSubject(ctx, h.owner), id)
	if errors.Is(err, recovery.ErrNotFound) {
		return "", 0, err
	}
	return text, first, h.inDatabase(err)
}

func (h History) inDatabase(err error) error {
	switch {
	case err == nil || h.db == nil:
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered within %s", h.db.Name(), historyPatience)
	}
	return fmt.Errorf("%s: %w", h.db.Name(), err)
}
