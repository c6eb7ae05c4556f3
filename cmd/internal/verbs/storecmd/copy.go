package storecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble/stores"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/auth/keys"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	recoverypg "github.com/mcp-pruner/mcp-pruner/pruneclient/recovery/postgres"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	ledgerpg "github.com/mcp-pruner/mcp-pruner/tools/contextgc/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/postgres"
	"github.com/mcp-pruner/mcp-pruner/tools/subject"
)

// copying is what the verb copy copies.
type copying struct {
	*verb
	place           stores.Place
	file            string   // of the ledger
	keys, originals string   // their files
	owner           string   // whose the ledger becomes, and the originals of the machine's owner
	others          []string // subjects with originals that no key names
	wantsOriginals  bool     // their file is named, and must exist
}

func twoStores(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return command.Usagef("want FROM and TO, got %d arguments", len(args))
	}
	return nil
}

func (v *verb) copy() *cobra.Command {
	o := copying{verb: v}
	c := &cobra.Command{
		Use: "copy FROM TO", Short: "Add a ledger, the originals of pruned outputs, and API keys to a database", Args: twoStores,
		Long: `From a file to a database it adds the ledger with its decisions and the ids that a proxy showed for its texts,
the API keys, and the originals of pruned outputs, each for the rest of its time (MCP_PRUNER_PRUNE_ID_TTL_S). A file
has no names of subjects: those of keys are known, and others have to be named with --originals-of. Originals that
hooks keep stay where agents run. From a database to a file it adds the API keys alone.

FROM stays as it is, and what TO has already is neither added again nor changed, so that a copy that was interrupted
can be repeated. A key that is revoked later has to be revoked in both.`,
		Example: "  mcp-pruner store copy sqlite:$HOME/.local/state/mcp-pruner/ledger.db postgres://pruner@db/pruner",
		RunE: func(c *cobra.Command, args []string) error {
			name, file := args[1], strings.TrimPrefix(args[0], settings.FileStore)
			out := postgres.Names(file)
			if out {
				name, file = args[0], strings.TrimPrefix(args[1], settings.FileStore)
			}
			if postgres.Names(file) || !postgres.Names(name) {
				return command.Usagef("want sqlite:FILE and postgres://USER@HOST/DATABASE, in either order")
			}
			v.store = name
			var err error
			if o.place, err = v.database(); err != nil {
				return err
			}
			if o.file, err = filepath.Abs(file); err != nil {
				return err
			}
			o.wantsOriginals = o.originals != ""
			o.keys, o.originals = cmp.Or(o.keys, o.file+stores.KeysSuffix), cmp.Or(o.originals, o.file+stores.OriginalsSuffix)
			if out {
				return o.copyKeys(c.Context(), true)
			}
			return o.in(subject.With(c.Context(), o.owner))
		},
	}
	f := c.Flags()
	f.StringVar(&o.owner, "subject", "", "whose the ledger becomes, and originals of the owner of the machine; decisions and keys are then left out (default: the owner of the machine)")
	f.StringVar(&o.keys, "keys", "", "the file with the API keys (default: FILE.keys)")
	f.StringVar(&o.originals, "originals", "", "the file with the originals (default: FILE.originals)")
	f.StringArrayVar(&o.others, "originals-of", nil, "a subject that no key names and whose originals are copied; may be repeated")
	return c
}

// in copies into the database what there is.
func (o *copying) in(ctx context.Context) error {
	db, err := open(ctx, o.place)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // each statement was committed
	back := recoverypg.Copying{DB: db}
	originals := o.wantsOriginals || exists(o.originals)
	if exists(o.file) || !exists(o.keys) && !originals { // one who has keys alone has no ledger
		if err := o.copyLedger(ctx, &back); err != nil {
			return err
		}
	}
	if o.owner == "" && exists(o.keys) { // a ledger becomes one subject's; keys have subjects of their own
		if err := o.copyKeys(ctx, false); err != nil {
			return err
		}
	}
	if originals {
		if err := o.copyOriginals(ctx, &back); err != nil {
			return err
		}
	}
	if originals || back.Added+back.There+back.Taken > 0 {
		return o.report(back)
	}
	return nil
}

func (o *copying) copyLedger(ctx context.Context, back *recoverypg.Copying) error {
	db, err := open(ctx, o.place)
	if err != nil {
		return err
	}
	store := ledgerpg.In(db, db.Now)
	n, err := store.Copy(ctx, o.file)
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	if _, err = fmt.Fprintf(o.p.Stdout, "%d segments, %d decisions and the usage of %d sessions were added.\n", n.Segments, n.Decisions, n.Sessions); err != nil {
		return err
	}
	shown, err := ledger.Index(o.p.Lookup).Of(o.file)
	if err != nil {
		return err
	}
	return back.Shown(ctx, shown)
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// copyKeys copies API keys from the file to the database, or out of the database into the file.
func (o *copying) copyKeys(ctx context.Context, out bool) error {
	db, err := open(ctx, o.place)
	if err != nil {
		return err
	}
	shared := keys.In(db)
	own, err := keys.OpenFile(o.keys, func(m string) { _, _ = fmt.Fprintln(o.p.Stderr, m) }, time.Now)
	if err != nil {
		return errors.Join(err, shared.Close())
	}
	from, to := own, shared
	if out {
		from, to = shared, own
	}
	added, there, err := keys.Copy(ctx, from, to)
	if err = errors.Join(err, own.Close(), shared.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.p.Stdout, "%d API keys were added, and %d were there already.\n", added, there)
	return err
}

// copyOriginals copies originals of pruned outputs. The subjects of keys are known.
func (o *copying) copyOriginals(ctx context.Context, back *recoverypg.Copying) error {
	config, _, err := settings.Load(settings.Stdio, nil, o.p.Lookup)
	if err != nil {
		return command.Usagef("%w", err)
	}
	list, err := keys.In(back.DB).List(ctx)
	if err != nil {
		return err
	}
	subjects := append([]string{o.owner}, o.others...)
	for _, k := range list {
		subjects = append(subjects, k.Subject)
	}
	return back.Originals(ctx, o.originals, config.RecoveryTTL, subjects)
}

// report says what became of ids.
func (o *copying) report(back recoverypg.Copying) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d originals were added, and %d were there already.\n", back.Added, back.There)
	if back.Taken > 0 {
		fmt.Fprintf(&b, "%d originals stay in the file alone, because the database has other texts under their ids.\n", back.Taken)
	}
	if back.Damaged > 0 {
		fmt.Fprintf(&b, "%d originals are damaged and stay in the file alone.\n", back.Damaged)
	}
	for _, hash := range slices.Sorted(maps.Keys(back.Strangers)) {
		fmt.Fprintf(&b, "%d originals of a subject with the hash %s stay in the file alone: name the subject with --originals-of.\n", back.Strangers[hash], hash)
	}
	_, err := fmt.Fprint(o.p.Stdout, b.String())
	return err
}
