package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

func recoverCommand(p command.Process) *cobra.Command {
	var lines, pattern string
	c := &cobra.Command{
		Use:   "recover ID",
		Short: "Print what a hook or the proxy cut from an output",
		Long: `Prints the whole output that a hook or the proxy cut, or some of its lines. ID is in the
first line of the cut output, or in the line that replaced it. Line numbers are those that the client
showed: of a file read, the file's. Of JSON on one long line --pattern prints the records that match, and of
another long line what stands around each match. Hooks keep originals for 7 days, the proxy for as long as its ledger.`,
		Example: `  mcp-pruner recover prn_3ddf8b97
  mcp-pruner recover prn_3ddf8b97 --lines 120-154
  mcp-pruner recover prn_3ddf8b97 --pattern 'func .*Retry'`,
		Args: command.OneArgument("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			from, to, err := lineRange(lines)
			if err != nil {
				return command.Usagef("%w", err)
			}
			re, err := regexp.Compile(pattern)
			if err != nil {
				return command.Usagef("--pattern: %w", err)
			}
			return recoverText(c.Context(), p, args[0], from, to, re)
		},
	}
	c.Flags().StringVar(&lines, "lines", "", "only these lines, e.g. 120-154, 120- or 7")
	c.Flags().StringVar(&pattern, "pattern", "", "only lines, or records of JSON on one line, that match this regular expression, with their numbers")
	return c
}

// lineRange parses A-B, A-, -B or A. to is 0 for an open end.
func lineRange(s string) (from, to int, err error) {
	if s == "" {
		return 1, 0, nil
	}
	a, b, ranged := strings.Cut(s, "-")
	if !ranged {
		b = a
	}
	wrong := fmt.Errorf("--lines %q: want A-B, two line numbers", s)
	from = 1
	if a != "" {
		if from, err = strconv.Atoi(a); err != nil || from < 1 {
			return 0, 0, wrong
		}
	}
	if b != "" {
		if to, err = strconv.Atoi(b); err != nil || to < from {
			return 0, 0, wrong
		}
	}
	return from, to, nil
}

// segmentID matches the ids of segments, which every ledger counts from 1.
var segmentID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^s[1-9][0-9]*x*$`) })

// originalOf returns the text with an id and the number of its first line: from the database that MCP_PRUNER_STORE names, else
// from the stores of this machine's user.
func originalOf(ctx context.Context, p command.Process, folder, id string) (text string, first int, err error) {
	place, err := assemble.Locate("", "", "", p.Lookup)
	if err != nil || !place.Shared() {
		return ledger.Original(ctx, ledger.Index(p.Lookup), folder, id)
	}
	db, err := assemble.OpenDatabase(place, nil)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = db.Close() }() // it was only read
	text, first, err = store.Shown{DB: db}.Text(ctx, id)
	if errors.Is(err, recovery.ErrNotFound) {
		return ledger.Original(ctx, ledger.Index(p.Lookup), folder, id)
	}
	return text, first, err
}

// recoverText prints some lines of the text with an id. Notes of an earlier version named a segment, without the ledger
// that it is in: it could be that of another session, so it is never printed.
func recoverText(ctx context.Context, p command.Process, id string, from, to int, re *regexp.Regexp) error {
	if segmentID().MatchString(id) {
		return fmt.Errorf("%s is the number of a segment, and every ledger has one: name the ledger's file, as in %s gc get %s --store FILE", id, command.Program, id)
	}
	folder, _ := os.Getwd() // a folder that was removed belongs to no project
	whole, first, err := originalOf(ctx, p, folder, id)
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	var shown strings.Builder
	if err := showRecovered(&shown, whole, first, from, to, re); err != nil {
		return err
	}
	ledger.Printed(p.Lookup).Note(id, shown.String()) // before a pipe that is closed early ends this process
	if _, err := io.WriteString(p.Stdout, shown.String()); err != nil {
		return err
	}
	if dir, err := files.StateDir(p.Lookup); err == nil {
		hook.AddNote(dir, hook.Note{Time: time.Now().UTC().Truncate(time.Millisecond), ID: id, Back: true, Sent: tokens.Claude(shown.String())})
	}
	return nil
}
