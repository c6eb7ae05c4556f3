package verbs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/states/ledger"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

func showSize(w io.Writer, s contextgc.Size) error {
	since := ""
	if !s.Oldest.IsZero() {
		since = " since " + s.Oldest.Local().Format(time.DateOnly)
	}
	_, err := fmt.Fprintf(w, "The ledger has %s (%d pinned) of %s%s in %.1f MB.\n",
		terminal.Count(s.Segments, "segment"), s.Pinned, terminal.Count(s.Sessions, "session"), since, float64(s.Bytes)/1e6)
	return err
}

// gcCleaned is the result of clean.
type gcCleaned struct {
	Removed int            `json:"removed_segments"`
	Before  contextgc.Size `json:"before"`
	After   contextgc.Size `json:"after"`
}

func (v *gcVerb) clean() *cobra.Command {
	var days int
	var size int64
	c := &cobra.Command{
		Use: "clean", Short: "Remove sessions that were not used for long, and give their space back", Args: command.NoArguments,
		Long: `Removes the sessions that are beyond the limits, with their originals, and shrinks the file. Pinned segments
stay. A server and the proxy do the same once a day, but they do not shrink the file.`,
		Example: "  mcp-pruner gc clean --keep-days 30",
	}
	f := c.Flags()
	f.IntVar(&days, "keep-days", 0, "keep sessions used within this many days; 0 keeps all (default: MCP_PRUNER_GC_KEEP_DAYS)")
	f.Int64Var(&size, "max-bytes", 0, "remove the sessions not used for longest above this size; 0 sets no limit (default: MCP_PRUNER_GC_MAX_BYTES)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		config, _, err := settings.Load(settings.Stdio, nil, v.p.Lookup)
		if err != nil {
			return command.Usagef("%w", err)
		}
		limits := assemble.LedgerLimits(config)
		if f.Changed("keep-days") {
			limits.Age = time.Duration(days) * 24 * time.Hour
		}
		if f.Changed("max-bytes") {
			limits.Bytes = size
		}
		if limits.Age < 0 || limits.Bytes < 0 {
			return command.Usagef("--keep-days and --max-bytes cannot be negative")
		}
		return v.cleanTo(c.Context(), limits)
	}
	return c
}

func (v *gcVerb) cleanTo(ctx context.Context, limits contextgc.Limits) error {
	drop, err := v.borrow()
	if err != nil {
		return err
	}
	defer drop()
	store, err := v.open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // nothing is pending
	var done gcCleaned
	if done.Before, err = store.Size(ctx); err != nil {
		return err
	}
	if done.Removed, err = ledger.Clean(ctx, store, store.Files, limits); err != nil {
		return err
	}
	if err := store.Shrink(ctx); err != nil {
		return err
	}
	if done.After, err = store.Size(ctx); err != nil {
		return err
	}
	if v.json {
		return json.NewEncoder(v.p.Stdout).Encode(done)
	}
	fmt.Fprintf(v.p.Stdout, "%s removed\n", terminal.Count(done.Removed, "segment"))
	return showSize(v.p.Stdout, done.After)
}
