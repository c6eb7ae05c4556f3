package verbs

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/view"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/web"
	"github.com/mcp-pruner/mcp-pruner/tools/page"
)

type viewOptions struct {
	command.Process
	port    int
	html    string
	texts   bool
	noOpen  bool
	store   string
	subject string
}

func viewCommand(p command.Process) *cobra.Command {
	o := viewOptions{Process: p}
	c := &cobra.Command{
		Use:   "view [PATH...]",
		Short: "Show what fills your agents' windows, live, on a page of this machine",
		Long: `Opens a page in your browser: your sessions, the window of each over time, what was cut and
why line by line, what was cleared and when it pays, what was fetched again, what all of it
saved, and the tabs of prefix, trace and replay. It follows the sessions while agents work.
PATH is a transcript or a folder of them; without it: your own sessions.

The page comes from this program, on 127.0.0.1 alone, and asks nobody else. Only the browser
that opens the file named on the standard error can see it. Nothing is written but that file.
--html writes a copy that needs no program; docs/CONTEXT.md explains every tab. A ledger in a
database is only read: --subject says whose part of it.`,
		Example: `  mcp-pruner view
  mcp-pruner view --html view.html
  mcp-pruner view --no-open ~/.claude/projects/one-of-them`,
		RunE: func(c *cobra.Command, paths []string) error {
			if o.texts && o.html == "" {
				return command.Usagef("--texts is for --html; the live page has the texts")
			}
			if o.port < 0 || o.port > 65535 {
				return command.Usagef("--port: want an integer from 0 to 65535")
			}
			for _, path := range paths {
				if _, err := os.Stat(path); err != nil {
					return err
				}
			}
			past, err := assemble.OpenHistory(o.store, o.subject, p.Lookup)
			if err != nil && (o.store != "" || o.subject != "") {
				return command.Usagef("%w", err)
			} // else the page says it
			defer func() { _ = past.Close() }() // it was only read
			s := view.Sources{Lookup: p.Lookup, Others: settings.FindOtherTools(p.Lookup), Ledger: past, Paths: paths}
			if o.html != "" {
				return o.copy(c.Context(), s)
			}
			return o.serve(c.Context(), s)
		},
	}
	f := c.Flags()
	f.IntVar(&o.port, "port", 0, "where to listen on 127.0.0.1; 0 takes any free port")
	f.BoolVar(&o.noOpen, "no-open", false, "only name the file that opens the page")
	f.StringVar(&o.html, "html", "", "write a standing copy of the page to this file; - is the standard output")
	f.BoolVar(&o.texts, "texts", false, "with --html: with the texts of what was cut")
	f.StringVar(&o.store, "store", "", "the ledger: its file, or the database without its password (default: MCP_PRUNER_GC_STORE or MCP_PRUNER_STORE, else in the user's state directory)")
	f.StringVar(&o.subject, "subject", "", "whose sessions the database has (default: the owner of the machine)")
	return command.EndsItself(c)
}

func (o viewOptions) copy(ctx context.Context, s view.Sources) error {
	m, err := s.Copy(ctx, o.texts)
	if err != nil {
		return err
	}
	if err := (page.File{Name: o.html, Stdout: o.Stdout}).Write(m); err != nil {
		return err
	}
	if o.texts && o.html != "-" {
		fmt.Fprintf(o.Stderr, "%s holds texts of your outputs; only you can read it\n", o.html)
	}
	return nil
}

// viewOpenWithin is how long the file that opens the page stays.
const viewOpenWithin = 5 * time.Minute

// viewFinishWithin is the time limit for requests in progress when the page ends.
const viewFinishWithin = time.Second

func (o viewOptions) serve(ctx context.Context, s view.Sources) error {
	listener, err := web.Listen(ctx, "127.0.0.1", o.port)
	if err != nil {
		return err
	}
	host := listener.Addr().String()
	used := make(chan struct{}, 1)
	v := view.NewServer(s, host, func() { used <- struct{}{} })
	file, remove, err := view.WriteOpening(host, v.Token())
	if err != nil {
		_ = listener.Close()
		return err
	}
	defer remove()
	go func() {
		select {
		case <-used:
		case <-time.After(viewOpenWithin):
		case <-ctx.Done():
		}
		remove()
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := web.NewServer(v)
	server.BaseContext = func(net.Listener) context.Context { return ctx } // ends the requests that follow the sessions
	followed := make(chan error, 1)
	go func() {
		err := v.Follow(ctx)
		followed <- err
		cancel()
	}()
	fmt.Fprintf(o.Stderr, "http://%s/ is opened by this file, once: %s\nCtrl-C ends it\n", host, file)
	if !o.noOpen {
		if err := view.Browse(ctx, file); err != nil {
			fmt.Fprintf(o.Stderr, "no browser was started (%v): open the file in yours\n", err)
		}
	}
	_, err = web.Serve(ctx, server, listener, func() bool { return web.ShutDown(server, viewFinishWithin, o.Hurry) })
	cancel()
	if failed := <-followed; failed != nil {
		return failed
	}
	return err
}
