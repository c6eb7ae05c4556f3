package assemble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/clearing"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Place is where one kind of state is kept: in a file, or in the database that replicas share.
type Place struct {
	File     string         // "": in the database, or where the kind of state is kept by default
	Database store.Database // Name "": in no database
}

// Shared reports whether the place is a database.
func (p Place) Shared() bool { return p.Database.Name != "" }

// The settings of today that name the file of one kind of state.
const (
	ledgerSetting   = ledger.Variable
	recoverySetting = "MCP_PRUNER_RECOVERY_STORE"
)

// Locate returns the place of a kind of state: what the option --store gives, else the kind's own setting, else
// MCP_PRUNER_STORE. beside is added to the name of the file that MCP_PRUNER_STORE names, so that each kind has its own.
func Locate(given, setting, beside string, lookup settings.Lookup) (Place, error) {
	of := func(name string) string {
		if v, set := lookup(name); set {
			return v
		}
		return ""
	}
	own, all := "", of(settings.Store)
	if setting != "" {
		own = of(setting)
	}
	if store.Names(given) {
		if store.HasPassword(given) {
			return Place{}, errors.New("--store: everybody on this machine can read a command's options: name the database without its password, which belongs into a file that PGPASSFILE or password_file names")
		}
		if all != "" && all != given {
			return Place{}, fmt.Errorf("--store names a database and %s another place: keep one of them", settings.Store)
		}
		all, given = given, ""
	}
	if !store.Names(all) {
		if all != "" && !strings.HasPrefix(all, settings.FileStore) {
			return Place{}, fmt.Errorf("%s: want %s", settings.Store, settings.StoreAllowed)
		}
		if file := strings.TrimPrefix(all, settings.FileStore); all != "" && given == "" && own == "" {
			return Place{File: file + beside}, nil
		}
		return Place{File: strings.TrimPrefix(cmp.Or(given, own), settings.FileStore)}, nil
	}
	switch {
	case given != "":
		return Place{}, fmt.Errorf("--store names a file and %s a database, in which everything is kept: leave one of them out", settings.Store)
	case own != "":
		return Place{}, fmt.Errorf("%s names a file and %s a database, in which everything is kept: unset one of them", setting, settings.Store)
	}
	return Place{Database: store.Database{Name: all}}, nil
}

// recoveryPlace returns the place of the originals of pruned outputs; without any, they are kept in memory.
func recoveryPlace(c settings.Settings) (Place, error) {
	return Locate("", recoverySetting, originalsSuffix, lookupOf(c, nil))
}

// lookupOf returns the variables of an environment, with those that name places as settings have them. others may be nil.
func lookupOf(c settings.Settings, others settings.Lookup) settings.Lookup {
	given := map[string]string{recoverySetting: c.RecoveryStore, ledgerSetting: c.GCStore, settings.Store: c.Store}
	return func(name string) (string, bool) {
		if v, known := given[name]; known || others == nil {
			return v, v != ""
		}
		return others(name)
	}
}

// OpenDatabase opens a database. If it cannot be reached the process starts all the same, which warn is told; a schema of
// another version is an error.
func OpenDatabase(p Place, warn func(message string)) (*store.DB, error) {
	db, err := store.Open(p.Database)
	if err != nil {
		return nil, err
	}
	var version *store.VersionError
	switch err := db.Check(context.Background()); {
	case errors.As(err, &version):
		return nil, errors.Join(version, db.Close())
	case err != nil && warn != nil:
		warn(fmt.Sprintf("%s: %v; until it can be used results stay whole", db.Name(), err))
	}
	return db, nil
}

func openTexts(place Place, s settings.Settings, warn func(message string)) (*recovery.Store, error) {
	limits := recovery.Settings{TTL: s.RecoveryTTL, MaxBytes: s.RecoveryMaxBytes, Report: warn}
	switch {
	case place.Shared():
		db, err := OpenDatabase(place, warn)
		if err != nil {
			return nil, err
		}
		return store.OriginalsIn(db, limits)
	case place.File == "":
		return recovery.Open(limits)
	}
	texts, err := store.OpenOriginals(place.File, limits)
	if err != nil {
		name := settings.Store
		if s.RecoveryStore != "" {
			name = recoverySetting
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return texts, nil
}

// openReplicas returns the database in which the processes of a team reach each other; nil: there is none.
func openReplicas(c settings.Settings) (*store.DB, error) {
	place, err := recoveryPlace(c)
	if err != nil || !place.Shared() {
		return nil, err
	}
	return OpenDatabase(place, nil)
}

// These are added to the name of the file that MCP_PRUNER_STORE names, for those of the API keys and of the originals.
const (
	keysSuffix      = ".keys"
	originalsSuffix = ".originals"
)

// OpenKeys opens the API keys: in the database that MCP_PRUNER_STORE names, else in a file of the user. failed gets messages
// about errors that do not prevent opening.
func OpenKeys(given string, lookup settings.Lookup, failed func(message string)) (*store.Keys, error) {
	place, err := KeysPlace(given, lookup)
	if err != nil {
		return nil, err
	}
	if !place.Shared() {
		return store.OpenKeys(place.File, failed, time.Now)
	}
	db, err := OpenDatabase(place, failed)
	if err != nil {
		return nil, err
	}
	return store.KeysIn(db), nil
}

// KeysPlace returns the place of the API keys.
func KeysPlace(given string, lookup settings.Lookup) (Place, error) {
	place, err := Locate(given, "", keysSuffix, lookup)
	if err != nil || place.Shared() || place.File != "" {
		return place, err
	}
	dir, err := files.StateDir(lookup)
	if err != nil {
		return place, fmt.Errorf("there is no directory for the API keys (%w): name a file with %s", err, settings.Store)
	}
	return Place{File: filepath.Join(dir, "keys.db")}, nil
}

// Empty reports whether nothing was ever kept in the place: opening it would create its files.
func (p Place) Empty() bool {
	_, missing := os.Stat(p.File)
	_, noSpool := os.Stat(ledger.SpoolOf(p.File).Dir)
	return !p.Shared() && errors.Is(missing, fs.ErrNotExist) && errors.Is(noSpool, fs.ErrNotExist)
}

// Ledger is an open ledger with what belongs to its place.
type Ledger struct {
	contextgc.Ledger
	Index clearing.Index // of the ids that are shown for its texts
	Files recovery.Index // the same in a state directory, which has to be cleaned; State "": there is none
}

// Original returns the text that the context's subject was shown by an id, or recovery.ErrNotFound.
func (l Ledger) Original(ctx context.Context, id string) (text string, err error) {
	if shown, ok := l.Index.(store.Shown); ok {
		text, _, err = shown.Text(ctx, id)
		return text, err
	}
	text, _, err = ledger.Original(ctx, l.Files, "", id)
	return text, err
}

// LedgerPlace returns the place of the ledger and its name: a file, or a database without its password.
func LedgerPlace(given string, lookup settings.Lookup) (p Place, name string, err error) {
	if p, err = Locate(given, ledger.Variable, "", lookup); err != nil || p.Shared() {
		return p, store.Redact(p.Database.Name), err
	}
	name, err = ledger.Find(cmp.Or(given, p.File), lookup)
	return p, name, err
}

// OpenLedger opens the ledger with the given name, else the one that the environment names, else the user's. failed gets
// messages about errors that do not prevent opening; nil: they are dropped.
func OpenLedger(ctx context.Context, given string, lookup settings.Lookup, failed func(message string)) (Ledger, error) {
	place, file, err := LedgerPlace(given, lookup)
	if err != nil {
		return Ledger{}, err
	}
	if !place.Shared() {
		return openFile(ctx, file, lookup, failed)
	}
	db, err := OpenDatabase(place, failed)
	if err != nil {
		return Ledger{}, err
	}
	return Ledger{Ledger: store.LedgerIn(db, db.Now), Index: store.Shown{DB: db}}, nil
}

// OpenOwnLedger opens the ledger of this machine's user, for hooks: they run where agents do, and never wait for a database.
func OpenOwnLedger(ctx context.Context, lookup settings.Lookup) (Ledger, error) {
	file, err := ledger.Find("", lookup)
	if err != nil {
		return Ledger{}, err
	}
	return openFile(ctx, file, lookup, nil)
}

func openFile(ctx context.Context, file string, lookup settings.Lookup, failed func(message string)) (Ledger, error) {
	store, err := ledger.Open(ctx, file, failed)
	if err != nil {
		return Ledger{}, err
	}
	files := ledger.Index(lookup)
	return Ledger{Ledger: store, Index: clearing.Files{Index: files}, Files: files}, nil
}

// LedgerFailed returns a function that reports what fails in a ledger to the event log.
func LedgerFailed(emit func(fsm.Event)) func(message string) {
	return func(message string) { emit(fsm.NewEvent("ledger.failed", "", fsm.Facts{"message": message})) }
}

// LedgerLimits returns the limits of the ledger in the settings.
func LedgerLimits(s settings.Settings) contextgc.Limits {
	return contextgc.Limits{Age: s.GCKeep, Bytes: s.GCMaxBytes}
}
