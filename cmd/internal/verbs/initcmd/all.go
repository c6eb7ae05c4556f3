package initcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// found is a client on this machine that init can set up.
type found struct {
	*agent.Client
	where string
}

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
	if !o.show && !o.uninstall {
		if list, err = o.ask(p, list); err != nil {
			return err
		}
	}
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
	}
	return o.runEach(ctx, p, h, names)
}

// runEach does for several clients what run does for one, and says once what is on.
func (o options) runEach(ctx context.Context, p command.Process, h home, names []string) (failed error) {
	o.quiet = true
	for _, name := range names {
		c := agent.Named(name)
		_, _ = fmt.Fprintf(p.Stdout, "\n%s\n", c.Title)
		if err := o.run(ctx, p, c.Name); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", c.Title, err))
		}
	}
	if o.show || o.uninstall {
		return failed
	}
	return errors.Join(failed, h.conclude(p.Stdout))
}

// ask returns the clients that the user chooses. With --yes those are all whose hooks their models see as they should.
func (o options) ask(p command.Process, list []found) (chosen []found, err error) {
	var offered []found
	for _, c := range list {
		if c.Hooks.AsErrors && !o.hooks && !o.mcp && !o.proxy {
			_, _ = fmt.Fprintf(p.Stdout, "%s (%s) is left out: it shows its model replaced results as errors. For its hooks all the same: mcp-pruner init %s --hooks\n", c.Title, c.where, c.Name)
			continue
		}
		offered = append(offered, c)
	}
	switch terminal := command.IsTerminal(p.Stdin) && command.IsTerminal(p.Stdout); {
	case len(offered) == 0:
		return nil, command.Usagef("nothing is left to set up")
	case o.yes:
		return offered, nil
	case !terminal:
		var names []string
		for _, c := range offered {
			names = append(names, c.Name)
		}
		return nil, command.Usagef("found %s: name one, or --yes sets up all", strings.Join(names, ", "))
	}
	_, _ = fmt.Fprintln(p.Stdout, "Found:")
	for i, c := range offered {
		_, _ = fmt.Fprintf(p.Stdout, "  %d  %s (%s)\n", i+1, c.Title, c.where)
	}
	_, _ = fmt.Fprint(p.Stdout, "Which are to be set up? Numbers, Enter for all, n for none: ")
	line, err := bufio.NewReader(p.Stdin).ReadString('\n')
	if err != nil && line == "" {
		return nil, errors.New("no answer: nothing was changed")
	}
	return picked(offered, line)
}

// picked returns the clients that an answer selects.
func picked(offered []found, answer string) (chosen []found, err error) {
	words := strings.FieldsFunc(strings.ToLower(answer), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\r' || r == '\n' })
	switch {
	case len(words) == 0, words[0] == "y", words[0] == "yes", words[0] == "all":
		return offered, nil
	case words[0] == "n", words[0] == "no", words[0] == "none":
		return nil, errors.New("nothing was changed")
	}
	for _, word := range words {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(offered) {
			return nil, command.Usagef("%q is none of the numbers 1 to %d", word, len(offered))
		}
		if !slices.Contains(chosen, offered[n-1]) {
			chosen = append(chosen, offered[n-1])
		}
	}
	return chosen, nil
}

// TrySentence is the prompt that a user pastes into a client to see a result being cut.
const TrySentence = "Run this command and tell me what went wrong: for i in $(seq 1200); do echo \"INFO request $i served\"; [ $i = 700 ] && echo \"ERROR disk is full\"; done; true"

// conclude says what is on, how to see it work, and how to undo it.
func (h home) conclude(w io.Writer) error {
	var on, names, shown []string
	var hooked, served bool
	for _, name := range clients() {
		all, err := h.pieces(name)
		if err != nil {
			continue
		}
		var kinds []string
		for _, p := range all {
			if p.kind != start && unreadable(p.file) == nil && p.installed() {
				kinds = append(kinds, string(p.kind))
			}
		}
		if len(kinds) > 0 {
			c := agent.Named(name)
			on, names = append(on, fmt.Sprintf("%s (%s)", c.Title, strings.Join(kinds, ", "))), append(names, name)
			hooked, served = hooked || slices.Contains(kinds, string(hooks)), served || slices.Contains(kinds, string(mcp))
			if c.Prefix != nil {
				shown = append(shown, name)
			}
		}
	}
	if len(on) == 0 {
		return nil
	}
	try, then := "To see it work, paste this into the client:\n  "+TrySentence, "Then: mcp-pruner gain\n"
	switch { // gain counts what hooks cut
	case hooked:
	case served:
		try, then = "To see it work, paste this into the client:\n  With the tool bash of the server pruner: "+TrySentence, ""
	default:
		try, then = "To see it work, let the client run some dozens of commands: mcp-pruner doctor counts the old results that were replaced.", ""
	}
	if len(shown) > 0 {
		then += "What the client sends before your first word, and what of it could go: mcp-pruner context " + command.Or(shown) + "\n"
	}
	_, err := fmt.Fprintf(w, `
On now: %s. It works in sessions that begin from now on.
%s
%sTo undo: mcp-pruner init %s --uninstall, or mcp-pruner uninstall for everything.
`, strings.Join(on, "; "), try, then, strings.Join(names, " "))
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
			var failed error
			if first != nil {
				failed = errors.Join(failed, first(c, p.Stdout))
			}
			for _, name := range clients() {
				failed = errors.Join(failed, h.takeOutOf(p.Stdout, name))
			}
			if last != nil {
				failed = errors.Join(failed, last(c, p.Stdout))
			}
			return errors.Join(failed, whatStays(p))
		},
	}
}

// takeOutOf takes all pieces out of one client.
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
