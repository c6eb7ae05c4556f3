package verbs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

type storeVerb struct {
	p     command.Process
	store string
}

func storeCommand(p command.Process) *cobra.Command {
	v := &storeVerb{p: p}
	c := &cobra.Command{
		Use:   "store",
		Short: "Look after the database in which a team keeps its state",
		Long: `The database is the one that MCP_PRUNER_STORE names, as postgres://USER@HOST/DATABASE. docs/TEAMS.md
explains it. Without a verb: whether it can be used, and what it holds.`,
	}
	c.PersistentFlags().StringVar(&v.store, "store", "", "the database, without its password (default: MCP_PRUNER_STORE)")
	c.AddCommand(v.migrate(), v.forget())
	command.Bare(c, v.status())
	return c
}

// database returns the database that the option or the environment names.
func (v *storeVerb) database() (assemble.Place, error) {
	place, err := assemble.Locate(v.store, "", "", v.p.Lookup)
	if err == nil && !place.Shared() {
		err = fmt.Errorf("no database is named: set %s to postgres://USER@HOST/DATABASE", settings.Store)
	}
	if err != nil {
		return place, command.Usagef("%w", err)
	}
	return place, nil
}

func (v *storeVerb) migrate() *cobra.Command {
	return &cobra.Command{
		Use: "migrate", Short: "Create the tables, or bring them to this program's version", Args: command.NoArguments,
		Long: `Creates the tables of this program in the database, or changes those of an earlier version. Several may
run it at the same time. A running replica of an earlier version goes on until it needs a new connection.`,
		RunE: func(c *cobra.Command, _ []string) error {
			place, err := v.database()
			if err != nil {
				return err
			}
			from, to, err := store.Migrate(c.Context(), place.Database)
			if err != nil {
				return fmt.Errorf("%s: %w", store.Redact(place.Database.Name), err)
			}
			if from == to {
				_, err = fmt.Fprintf(v.p.Stdout, "The schema has version %d already.\n", to)
			} else {
				_, err = fmt.Fprintf(v.p.Stdout, "The schema had version %d and has version %d now.\n", from, to)
			}
			return err
		},
	}
}

func (v *storeVerb) status() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Say whether the database can be used, and what it holds", Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			place, err := v.database()
			if err != nil {
				return err
			}
			name := store.Redact(place.Database.Name)
			st, err := store.Inspect(c.Context(), place.Database)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if asJSON {
				err = json.NewEncoder(v.p.Stdout).Encode(st)
			} else {
				_, err = fmt.Fprintf(v.p.Stdout, "%s\nPostgreSQL %s, schema version %d of %d, %.1f MB\n%s, %s, %s, %s, %s, %s (%d revoked)\n", name, st.Server,
					st.Version, store.Latest(), float64(st.Bytes)/1e6, terminal.Count(st.Subjects, "subject"), terminal.Count(st.Texts, "text"),
					terminal.Count(st.Originals, "original"), terminal.Count(st.Segments, "segment"), terminal.Count(st.Decisions, "decision"), terminal.Count(st.Keys, "key"), st.Revoked)
			}
			return cmp.Or(err, st.Refused)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON value")
	return c
}

func (v *storeVerb) forget() *cobra.Command {
	var owner string
	var what contextgc.Forgotten
	c := &cobra.Command{
		Use: "forget", Short: "Remove what is kept of a subject, a project or a session", Args: command.NoArguments,
		Long: `Removes texts, pinned ones too, decisions and usage. With --subject alone everything of that subject goes,
except its API keys: revoke those first. Backups keep what they have.`,
		RunE: func(c *cobra.Command, _ []string) error {
			whose := c.Flags().Changed("subject")
			if !whose && what.Project == "" && what.Session == "" {
				return command.Usagef("say what to forget: --subject, --project or --session")
			}
			what.All = whose && what.Project == "" && what.Session == ""
			place, err := v.database()
			if err != nil {
				return err
			}
			if what.Session != "" && !strings.HasPrefix(what.Session, "sess_") && !strings.HasPrefix(what.Session, "conv_") && !strings.HasPrefix(what.Session, "ses_") {
				what.Session = contextgc.SessionID(what.Session)
			}
			ctx := agent.WithSubject(c.Context(), owner)
			db, err := openStore(ctx, place)
			if err != nil {
				return err
			}
			store := store.LedgerIn(db, db.Now)
			n, err := store.Forget(ctx, what)
			if err = errors.Join(err, store.Close()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(v.p.Stdout, "%s %s removed.\n", terminal.Count(n, "segment"), terminal.Plural(n, "was", "were"))
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&owner, "subject", "", "whose (default: the owner of the machine); alone: all that this subject has")
	f.StringVar(&what.Project, "project", "", "a project, as gc lists it")
	f.StringVar(&what.Session, "session", "", "a session, as the ledger or its client names it")
	return c
}

// openStore opens a database and fails if it cannot be used.
func openStore(ctx context.Context, place assemble.Place) (*store.DB, error) {
	db, err := assemble.OpenDatabase(place, nil)
	if err != nil {
		return nil, err
	}
	if err := db.Check(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", db.Name(), err), db.Close())
	}
	return db, nil
}
