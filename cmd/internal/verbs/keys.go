package verbs

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/states/store"
)

// keyDoors are the programs that a key may be for.
var keyDoors = []string{"serve", "gateway", "pruner", "proxy"}

func keysCommand(p command.Process) *cobra.Command {
	var place string
	c := &cobra.Command{
		Use:   "keys",
		Short: "Add, list and revoke the API keys of callers",
		Long: `Keeps the API keys with which callers beyond this machine show who they are (serve,
gateway --http, pruner and proxy with --auth keys). A key is printed once and stored as
a hash, in the database of MCP_PRUNER_STORE, else in a file of the user. A revoked key
is refused within a minute. Without a verb it lists the keys, never what opens anything.
docs/TEAMS.md describes how callers send it.`,
		Example: `  mcp-pruner keys add alice --expires 90d >alice.key
  mcp-pruner keys
  mcp-pruner keys revoke k3f9c2d1`,
	}
	c.PersistentFlags().StringVar(&place, "store", "", "where keys are (default: MCP_PRUNER_STORE, else in the user's state directory)")
	with := func(do func(all *store.Keys) error) error {
		all, err := assemble.OpenKeys(place, p.Lookup, func(m string) { _, _ = fmt.Fprintln(p.Stderr, m) })
		if err != nil {
			return err
		}
		return errors.Join(do(all), all.Close())
	}
	c.AddCommand(addKeyCommand(p, with), revokeKeyCommand(p, with))
	command.Bare(c, listKeysCommand(p, with, &place))
	return c
}

// keyUse opens the keys for what a verb does with them.
type keyUse = func(do func(all *store.Keys) error) error

func addKeyCommand(p command.Process, with keyUse) *cobra.Command {
	var scopes []string
	var expires, note string
	c := &cobra.Command{
		Use:   "add [flags] SUBJECT",
		Short: "Make a key for a subject and print it, once",
		Args:  command.OneArgument("SUBJECT"),
		RunE: func(c *cobra.Command, args []string) error {
			k := store.Key{ID: newKeyID(), Subject: args[0], Scopes: scopes, Note: note}
			if err := checkKey(k); err != nil {
				return err
			}
			if expires != "" {
				within, err := parseDays(expires)
				if err != nil {
					return err
				}
				k.Expires = time.Now().Add(within).UTC().Truncate(time.Second)
			}
			return with(func(all *store.Keys) error {
				key := web.NewKey()
				if err := all.Add(c.Context(), k, store.Hash(web.HashKey(key))); err != nil {
					return err
				}
				if _, err := fmt.Fprintln(p.Stdout, key); err != nil {
					return errors.Join(err, all.Revoke(c.Context(), k.ID)) // nobody has seen it
				}
				shown := ""
				if readByOthers(p.Stdout) {
					shown = " Other users of this machine can read the file that it went to: chmod 600 that."
				}
				_, err := fmt.Fprintf(p.Stderr, "%s is a key of %s. It is not shown again.%s\n", k.ID, k.Subject, shown)
				return err
			})
		},
	}
	c.Flags().StringSliceVar(&scopes, "scope", nil, "what it opens: "+strings.Join(keyDoors, ", ")+" (default: all)")
	c.Flags().StringVar(&expires, "expires", "", "time until it expires, such as 90d or 12h (default: never)")
	c.Flags().StringVar(&note, "note", "", "what it is for, for the list")
	return c
}

// readByOthers reports whether what is written goes to a file that other users may read.
func readByOthers(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok || runtime.GOOS == "windows" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o044 != 0
}

// checkKey refuses what cannot be a key.
func checkKey(k store.Key) error {
	for _, text := range []string{k.Subject, k.Note} {
		if !web.Printable(text) {
			return command.Usagef("%q: want at most %d bytes of printable text", text, web.MaxName)
		}
	}
	if name := strings.TrimSpace(k.Subject); name == "" || name != k.Subject {
		return command.Usagef("SUBJECT %q: want the name of whose key it is, without spaces around it", k.Subject)
	}
	if web.IsKey(k.Subject) {
		return command.Usagef("SUBJECT: this is a key; want the name of whose key it is to be")
	}
	for _, s := range k.Scopes {
		if !slices.Contains(keyDoors, s) {
			return command.Usagef("--scope %q: want %s", s, strings.Join(keyDoors, ", "))
		}
	}
	return nil
}

// parseDays parses a duration, in which "d" is a day of 24 hours.
func parseDays(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days+"\n", "%d\n", &n); err == nil && n > 0 && n <= 36_500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, command.Usagef("--expires %q: want a time such as 90d or 12h", text)
}

// newKeyID returns the public name of a new key.
func newKeyID() string {
	random := make([]byte, 4)
	_, _ = rand.Read(random) // never fails
	return "k" + hex.EncodeToString(random)
}

func listKeysCommand(p command.Process, with keyUse, place *string) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the keys, without what opens anything",
		Args:  command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			rows := []keyRow{}
			if at, err := assemble.KeysPlace(*place, p.Lookup); err != nil || !at.Empty() {
				if err := with(func(all *store.Keys) error {
					list, err := all.List(c.Context())
					for _, k := range list {
						rows = append(rows, keyRowOf(k, time.Now()))
					}
					return err
				}); err != nil {
					return err
				}
			}
			if asJSON {
				return json.NewEncoder(p.Stdout).Encode(map[string]any{"keys": rows})
			}
			return writeKeys(p.Stdout, rows)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

type keyRow struct {
	ID      string   `json:"id"`
	Subject string   `json:"subject"`
	State   string   `json:"state"` // valid, expired or revoked
	Scopes  []string `json:"scopes"`
	Created string   `json:"created_at"`
	Expires string   `json:"expires_at,omitempty"`
	Note    string   `json:"note,omitempty"`
}

func keyRowOf(k store.Key, now time.Time) keyRow {
	r := keyRow{ID: k.ID, Subject: k.Subject, State: "valid", Scopes: append([]string{}, k.Scopes...), Created: k.Created.UTC().Format(time.RFC3339), Note: k.Note}
	if !k.Expires.IsZero() {
		r.Expires = k.Expires.UTC().Format(time.RFC3339)
	}
	switch {
	case !k.Revoked.IsZero():
		r.State = "revoked"
	case !k.Valid(now):
		r.State = "expired"
	}
	return r
}

func writeKeys(w io.Writer, rows []keyRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, `There are no keys. "mcp-pruner keys add SUBJECT" makes one.`)
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tSUBJECT\tSTATE\tSCOPES\tCREATED\tEXPIRES\tNOTE") // Flush has the error
	for _, r := range rows {
		scopes, expires := "all", "never"
		if len(r.Scopes) > 0 {
			scopes = strings.Join(r.Scopes, ",")
		}
		if r.Expires != "" {
			expires = r.Expires
		}
		_, _ = fmt.Fprintln(table, strings.Join([]string{r.ID, r.Subject, r.State, scopes, r.Created, expires, r.Note}, "\t"))
	}
	return table.Flush()
}

func revokeKeyCommand(p command.Process, with keyUse) *cobra.Command {
	return &cobra.Command{
		Use:   "revoke ID",
		Short: "Refuse a key from now on",
		Args:  command.OneArgument("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if web.IsKey(args[0]) {
				return command.Usagef(`ID: this is the key itself, which now stands in the shell's history: revoke it by its id, which "mcp-pruner keys" shows`)
			}
			return with(func(all *store.Keys) error {
				err := all.Revoke(c.Context(), args[0])
				if errors.Is(err, store.ErrKeyUnknown) {
					return fmt.Errorf(`no key has the id %.20q; "mcp-pruner keys" shows them`, args[0])
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(p.Stdout, "%s is revoked. Servers that reach the store refuse it within %d seconds.\n", args[0], int(web.MaxRevoked.Seconds()))
				return err
			})
		},
	}
}
