package assemble

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
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
		v, _ := lookup(name)
		return v
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
		if file := strings.TrimPrefix(all, settings.FileStore); all != "" && given == "" && own == "" {
			return Place{File: file + beside}, nil
		}
		if given != "" {
			own = given
		}
		return Place{File: strings.TrimPrefix(own, settings.FileStore)}, nil
	}
	switch {
	case given != "":
		return Place{}, fmt.Errorf("--store names a file and %s a database, in which everything is kept: leave one of them out", settings.Store)
	case own != "":
		return Place{}, fmt.Errorf("%s names a file and %s a database, in which everything is kept: unset one of them", setting, settings.Store)
	}
	return Place{Database: store.Database{Name: all, Direct: of(settings.StoreDirect)}}, nil
}

// recoveryPlace returns the place of the originals of pruned outputs; without any, they are kept in memory.
func recoveryPlace(c settings.Settings) (Place, error) {
	return Locate("", recoverySetting, originalsSuffix, lookupOf(c, nil))
}

// lookupOf returns the variables of an environment, with those that name places as settings have them.
func lookupOf(c settings.Settings, env []string) settings.Lookup {
	given := map[string]string{recoverySetting: c.RecoveryStore, ledgerSetting: c.GCStore, settings.Store: c.Store, settings.StoreDirect: c.StoreDirect}
	others := settings.FromEnv(env)
	return func(name string) (string, bool) {
		if v, known := given[name]; known {
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

// OpenReplicas returns the database in which the processes of a team reach each other; nil: there is none.
func OpenReplicas(c settings.Settings) (*store.DB, error) {
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
	place, err := Locate(given, "", keysSuffix, lookup)
	if err != nil {
		return nil, err
	}
	if place.Shared() {
		db, err := OpenDatabase(place, failed)
		if err != nil {
			return nil, err
		}
		return store.KeysIn(db), nil
	}
	if place.File == "" {
		dir, err := files.StateDir(lookup)
		if err != nil {
			return nil, fmt.Errorf("there is no directory for the API keys (%w): name a file with %s", err, settings.Store)
		}
		place.File = filepath.Join(dir, "keys.db")
	}
	return store.OpenKeys(place.File, failed, time.Now)
}
