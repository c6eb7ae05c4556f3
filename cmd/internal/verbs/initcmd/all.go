package initcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// installedClients lists the clients whose folder exists or whose program is on PATH.
func (h home) installedClients(env []string) (list []found) {
	for _, c := range agent.With(func(c *agent.Client) bool { return c.Hooks != nil }) {
		files, err := h.Files(c.Name)
		if err != nil {
			continue
		}
		if info, err := os.Stat(files.Dir); err == nil && info.IsDir() {
			list = append(list, found{c, files.Dir})
		} else if path := system.Here(env).LookPath(c.Name); path != "" {
			list = append(list, found{c, path})
		}
	}
	return list
}

// runAll sets up the clients that are installed, after a question on a terminal or with --yes.
func (o options) runAll(ctx context.Context, p command.Process) error {
	h, err := homeOf(p)
	if err != nil {
		return err
	}
	list := h.installedClients(p.Env)
	if len(list) == 0 {
		return command.Usagef("no client is found: neither a folder of settings nor a program on PATH of %s; name one", command.Or(clients()))
	}
	if o.show || o.uninstall {
		return o.runEach(ctx, p, h, o.jobsFor(namesOf(list)))
	}
	if list = o.offered(p.Stdout, list); len(list) == 0 {
		return command.Usagef("nothing is left to set up")
	}
	if !o.yes && !(command.IsTerminal(p.Stdin) && command.IsTerminal(p.Stdout)) {
		return command.Usagef("found %s: name one, or --yes sets up what pays", strings.Join(namesOf(list), ", "))
	}
	chosen, err := ask(p, choicesIn(ctx, p, list, o.chooses()), o.yes)
	if err != nil {
		return err
	}
	return o.runEach(ctx, p, h, o.jobs(chosen))
}

func namesOf(list []found) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}

// offered returns the clients that can be set up without being named: those whose models see what a hook replaced as it should be.
func (o options) offered(w io.Writer, list []found) (offered []found) {
	for _, c := range list {
		if c.Hooks.AsErrors && !o.hooks && !o.mcp && !o.proxy {
			_, _ = fmt.Fprintf(w, "%s (%s) is left out: it shows its model replaced results as errors. For its hooks all the same: mcp-pruner init %s --hooks\n", c.Title, c.where, c.Name)
			continue
		}
		offered = append(offered, c)
	}
	return offered
}

// jobs returns for each client of the choices the options with which it is set up, in order.
func (o options) jobs(chosen []choice) (list []job) {
	for _, c := range chosen {
		at := slices.IndexFunc(list, func(j job) bool { return j.client == c.client.Name })
		if at < 0 {
			at = len(list)
			list = append(list, job{client: c.client.Name, options: o})
		}
		j := &list[at]
		switch c.part {
		case "":
			j.sets = true
		case replay.GC:
			j.proxy, j.sets = true, true
		case replay.Hook:
			j.hooks, j.sets = true, true
		case replay.Context:
			j.prefix = true
		}
	}
	return list
}

// job is what is to be done for one client.
type job struct {
	client string
	options
	sets   bool // something that init writes
	prefix bool // context --apply
}

// jobsFor returns a job for each of some clients.
func (o options) jobsFor(names []string) (list []job) {
	for _, name := range names {
		list = append(list, job{client: name, options: o, sets: true})
	}
	return list
}

// runEach does for several clients what run does for one, and says once what is on.
func (o options) runEach(ctx context.Context, p command.Process, h home, jobs []job) (failed error) {
	for i, j := range jobs {
		title := agent.Named(j.client).Title
		if i > 0 || !o.show {
			_, _ = fmt.Fprintln(p.Stdout)
		}
		_, _ = fmt.Fprintln(p.Stdout, title)
		j.quiet = true
		if j.sets {
			if err := j.run(ctx, p, agent.Named(j.client).Name); err != nil {
				failed = errors.Join(failed, fmt.Errorf("%s: %w", title, err))
			}
		}
		if j.prefix && o.applyPrefix(ctx, j.client) != command.OK {
			failed = errors.Join(failed, fmt.Errorf("%s: its prefix is as it was", title))
		}
	}
	if o.show || o.uninstall {
		return failed
	}
	return errors.Join(failed, h.conclude(p.Stdout))
}

// TrySentence is the prompt that a user pastes into a client to see a result being cut.
const TrySentence = "Run this command and tell me what went wrong: for i in $(seq 1200); do echo \"INFO request $i served\"; [ $i = 700 ] && echo \"ERROR disk is full\"; done; true"

// conclude says what is on, how to see it work, and how to undo it.
func (h home) conclude(w io.Writer) error {
	var on, names, waits []string
	var hooked, served bool
	for _, name := range clients() {
		all, err := h.pieces(name)
		if err != nil {
			continue
		}
		var kinds []string
		for _, p := range all {
			if p.kind == start || unreadable(p.file) != nil || !p.installed() {
				continue
			}
			kinds = append(kinds, string(p.kind))
			if c := agent.Named(name); p.kind == proxy && !h.starting(c) {
				waits = append(waits, c.Title)
			}
		}
		if len(kinds) > 0 {
			c := agent.Named(name)
			on, names = append(on, fmt.Sprintf("%s (%s)", c.Title, strings.Join(kinds, ", "))), append(names, name)
			hooked, served = hooked || slices.Contains(kinds, string(hooks)), served || slices.Contains(kinds, string(mcp))
		}
	}
	if len(on) == 0 {
		return nil
	}
	try, then := "To see it work, paste this into the client:\n  "+TrySentence, "Then: mcp-pruner gain\n"
	switch {
	case hooked:
	case served:
		try, then = "To see it work, paste this into the client:\n  With the tool bash of the server pruner: "+TrySentence, ""
	default:
		try = "To see it work, let the client run some dozens of commands."
	}
	once := ""
	if len(waits) > 0 {
		once = fmt.Sprintf(", with %s once the proxy runs: mcp-pruner%s%d", terminal.List(waits, "and"), startPhrase, proxyPort)
	}
	_, err := fmt.Fprintf(w, `
On now: %s. It works in sessions that begin from now on%s.
%s
%sTo undo: mcp-pruner init %s --uninstall, or mcp-pruner uninstall for everything.
`, strings.Join(on, "; "), once, try, then, strings.Join(names, " "))
	return err
}

// UninstallCommand returns the verb uninstall. first and last take out what other verbs have put in, before and after what init has; they
// are given the writer of the report.
func UninstallCommand(p command.Process, first func(c *cobra.Command, w io.Writer) error, last func(c *cobra.Command, w io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall [CLIENT...]",
		Short: "Take everything out of all clients, and say what stays",
		Long: `Takes out of every client what init and context put in: hooks, servers, the
proxy, status line and rule. What context switched off is on again, in projects, too, and
the proxy ends. Each file gets back the bytes that it had, or loses our entries alone if it
was edited since. Data of yours stays, and it is said where. With CLIENT: what init put
into that one, as init CLIENT --uninstall does.`,
		RunE: func(c *cobra.Command, names []string) error {
			h, err := homeOf(p)
			if err != nil || len(names) > 0 {
				return errors.Join(err, options{uninstall: true}.runNamed(c.Context(), p, names))
			}
			failed := first(c, p.Stdout)
			for _, name := range clients() {
				failed = errors.Join(failed, h.takeOutOf(p.Stdout, name))
			}
			failed = errors.Join(failed, last(c, p.Stdout))
			return errors.Join(failed, whatStays(p))
		},
	}
}

func (h home) takeOutOf(w io.Writer, client string) error {
	all, err := h.pieces(client)
	if err != nil {
		return err
	}
	if r, _ := h.rulePiece(client); r.kind == rule {
		all = append(all, r)
	}
	var there []piece
	for _, p := range all {
		if p.installed() {
			there = append(there, p)
		}
	}
	if len(there) == 0 {
		sayForeign(w, all)
		return nil
	}
	_, _ = fmt.Fprintf(w, "%s\n", agent.Named(client).Title)
	failed := uninstall(w, all, there)
	sayForeign(w, all)
	return errors.Join(failed, h.dropSecret(there))
}

// whatStays names the user's data.
func whatStays(p command.Process) error {
	dir, err := files.StateDir(p.Lookup)
	if err != nil {
		return nil //nolint:nilerr // there can be no data
	}
	size := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	if size == 0 {
		_, err = fmt.Fprintln(p.Stdout, "Nothing of mcp-pruner is left.")
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "These stay: originals, ledger, logs and traces of cut results, %.1f MB in %s. To remove them, delete that folder.\n", float64(size)/1e6, dir)
	return err
}
