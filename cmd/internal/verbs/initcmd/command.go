// Package initcmd implements `mcp-pruner init`. It adds hooks, servers and the proxy to the clients' configurations,
// and later removes exactly what it added.
package initcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// clients are the names of the clients that init can set up.
func clients() []string {
	return agent.Names(agent.With(func(c *agent.Client) bool { return c.Hooks != nil || c.Servers.Entry != nil }))
}

// options holds the command line's flags.
type options struct {
	hooks, mcp, proxy, status, show, uninstall, allowRecover, yes bool

	quiet bool // without the closing words

	applyPrefix func(ctx context.Context, client string) int // context CLIENT --apply; returns the exit code

	fits map[kind]bool // what works with the client's model

	only, except []string // tools and servers
	selects      bool     // one of these flags is given; empty, it selects all
}

// Command returns the verb. applyPrefix switches off what a client's sessions never use of its prefix; it returns an exit code.
func Command(p command.Process, applyPrefix func(ctx context.Context, client string) int) *cobra.Command {
	o := options{applyPrefix: applyPrefix}
	c := &cobra.Command{
		Use:   "init [" + strings.Join(clients(), "|") + "]...",
		Short: "Set a client up: hooks on its own tools, our tools, or the proxy",
		Long: `Changes the configuration of a client. Without a name it lists what can be set up in those
that are installed, with what each part would have saved in your latest sessions, and asks;
--yes takes what pays. With a name and without a flag: hooks, which prune the results
of the tools that the client has already, and for Codex what works with its model: the
proxy, and hooks where they can replace results. Foreign entries, comments and formatting
stay; a copy of the file before the first change is kept beside it. A file that the
client cannot read is left as it is. Running it twice changes nothing, and --uninstall
takes out exactly what was put in.`,
		Example: `  mcp-pruner init
  mcp-pruner init claude
  mcp-pruner init claude --show
  mcp-pruner init codex --mcp
  mcp-pruner init claude --allow-recover
  mcp-pruner init claude --uninstall`,
		RunE: func(c *cobra.Command, args []string) error {
			o.selects = c.Flags().Changed("only") || c.Flags().Changed("except")
			if len(args) == 0 {
				return o.runAll(c.Context(), p)
			}
			return o.runNamed(c.Context(), p, args)
		},
	}
	f := c.Flags()
	f.BoolVar(&o.hooks, "hooks", false, "hooks on the client's own tools (default where the client has them)")
	f.BoolVar(&o.mcp, "mcp", false, "our read, bash and grep as an MCP server")
	f.BoolVar(&o.proxy, "proxy", false, "send the client's API calls through mcp-pruner proxy")
	f.BoolVar(&o.status, "statusline", false, "beside hooks, a line in the client that says what was cut (claude), after your own")
	f.BoolVar(&o.yes, "yes", false, "without a client: set up what pays in your sessions, without a question")
	f.BoolVar(&o.show, "show", false, "say what is there and change nothing")
	f.BoolVar(&o.allowRecover, "allow-recover", false, "write the rule in your settings that lets the model run recover without asking")
	f.StringSliceVar(&o.only, "only", nil, "hooks: replace only the results of these tools and MCP servers; \"\": of all")
	f.StringSliceVar(&o.except, "except", nil, "hooks: leave the results of these tools and MCP servers whole")
	f.BoolVar(&o.uninstall, "uninstall", false, "take out what init put in")
	return c
}

// runNamed does what the flags say for the clients that a user names.
func (o options) runNamed(ctx context.Context, p command.Process, names []string) error {
	for _, name := range names {
		if !slices.Contains(clients(), agent.Named(name).Name) {
			return command.Usagef("unknown client %q: want %s", name, command.Or(clients()))
		}
	}
	h, err := homeOf(p)
	if err != nil {
		return err
	}
	if len(names) > 1 {
		return o.runEach(ctx, p, h, o.jobsFor(names))
	}
	return o.run(ctx, p, agent.Named(names[0]).Name)
}

func (o options) run(ctx context.Context, p command.Process, client string) error {
	h, err := homeOf(p)
	if err != nil {
		return err
	}
	if h.tools, err = newTools(o.only, o.except, o.selects); err != nil {
		return err
	}
	all, err := h.pieces(client)
	if err != nil {
		return err
	}
	r, unruled := h.rulePiece(client)
	if r.kind == rule {
		all = append(all, r)
	}
	if o.show && o.uninstall {
		return command.Usagef("--show changes nothing and --uninstall does; choose one")
	}
	out := bufio.NewWriter(p.Stdout)
	if o.show {
		return errors.Join(show(out, all), out.Flush())
	}
	var why string
	if c := agent.Named(client); !o.chooses() || o.hooks && !o.uninstall {
		model, err := h.Model(ctx, c, p.Env)
		o.fits, why = fit(c, model, err, func() error { return planned(all, proxy) })
		if o.hooks {
			why = idle(c, model)
		}
	}
	chosen, err := o.choose(client, all)
	if err != nil {
		return err
	}
	if why != "" {
		fmt.Fprintln(out, why)
	}
	if o.uninstall {
		used := AllProxied(p)
		failed := uninstall(out, all, chosen)
		sayForeign(out, chosen)
		if len(AllProxied(p)) == 0 { // nothing uses it any more, and its secret goes
			failed = errors.Join(failed, StopProxies(ctx, p, out, used))
		}
		return errors.Join(failed, h.dropSecret(chosen), out.Flush())
	}
	changed, err := install(out, all, chosen)
	if err == nil {
		sayForeign(out, chosen)
		h.warnOfNpx(out)
		err = o.permit(p, h, out, client, all, chosen, unruled)
	}
	if err == nil && changed && !o.quiet {
		err = h.conclude(out)
	}
	if err == nil {
		fmt.Fprint(out, prefix.UsageLine(ctx, prefix.UsageOptions{Client: agent.Named(client), Lookup: p.Lookup, Now: time.Now()}))
	}
	return errors.Join(err, out.Flush())
}

// warnOfNpx says that this program may vanish, if it may.
func (h home) warnOfNpx(w io.Writer) {
	if command.InNpxCache(h.path, h.system) {
		fmt.Fprintf(w, "%s is in npx's cache, which npx may empty. To keep it, give npm install --global the package that npx was given, then init once more.\n", h.path)
	}
}

// homeOf finds this program's path and the folders of the configurations.
func homeOf(p command.Process) (home, error) {
	path, onPath, err := command.Self()
	if err != nil {
		return home{}, fmt.Errorf("find this program: %w", err)
	}
	return home{Home: setup.Home{Lookup: p.Lookup}, system: runtime.GOOS, path: path, onPath: onPath}, nil
}

// chooses reports whether a flag says what to set up, or that nothing is.
func (o options) chooses() bool { return o.hooks || o.mcp || o.proxy || o.status || o.uninstall }

// choose returns the pieces that the flags select, or else those that work with the client's model.
func (o options) choose(client string, all []piece) ([]piece, error) {
	wanted := map[kind]bool{hooks: o.hooks || o.status && !o.uninstall, mcp: o.mcp, proxy: o.proxy, start: o.proxy, unit: o.proxy, statusLine: o.status, rule: o.uninstall && o.allowRecover}
	switch {
	case o.hooks || o.mcp || o.proxy || o.status || wanted[rule]:
	case o.uninstall:
		return all, nil
	default:
		if agent.Named(client).Hooks == nil {
			wanted[mcp] = true
			break
		}
		if agent.Named(client).Hooks.AsErrors {
			return nil, command.Usagef("%s shows a result that a hook replaces as an error, to its model or to its user; choose --hooks all the same, or --mcp", client)
		}
		wanted = o.fits
	}
	var chosen []piece
	for _, k := range []kind{hooks, mcp, proxy, start, unit, statusLine, rule} {
		i := slices.IndexFunc(all, func(p piece) bool { return p.kind == k })
		switch {
		case !wanted[k], (k == start || k == unit) && i < 0:
		case i < 0 && k == hooks:
			return nil, command.Usagef("%s has no hooks that replace results; --mcp adds our tools", agent.Named(client).Title)
		case i < 0:
			return nil, command.Usagef("init cannot set up the %s of %s; docs/HOOKS.md says how to do it by hand", k, client)
		default:
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// install adds the chosen pieces, and reports whether a file changed. It writes no file if one of them would be refused.
func install(w io.Writer, all, chosen []piece) (changedAny bool, err error) {
	for _, p := range chosen {
		if _, _, err := p.file.Plan(p.install, p.check); err != nil {
			return false, fmt.Errorf("%s: %w", p.file.Path, err)
		}
	}
	for _, p := range chosen {
		write := p.file.Install
		if slices.ContainsFunc(all, func(other piece) bool { return other.file == p.file && other.installed() }) {
			write = p.file.Update
		}
		changed, err := write(p.install, p.check)
		if err != nil {
			return changedAny, fmt.Errorf("%s: %w", p.file.Path, err)
		}
		what := "was there already"
		if changed {
			what, changedAny = "installed", true
		}
		fmt.Fprintf(w, "%s: %s (%s)\n", p.kind, what, p.file.Path)
		if p.note != "" && (changed || p.kind != mcp) {
			fmt.Fprintln(w, p.note)
		}
	}
	return changedAny, nil
}

// fit returns the kinds of pieces that work with a client's model, and why. The proxy is left out where it cannot be set up beside hooks.
func fit(c *agent.Client, m *agent.Model, err error, proxied func() error) (wanted map[kind]bool, why string) {
	wanted = map[kind]bool{hooks: true}
	switch {
	case err != nil:
		return wanted, fmt.Sprintf("Which model %s uses is not known (%v). Hooks do nothing with one that calls tools from code, as today's do: init %s --proxy is for these.", c.Title, err, c.Name)
	case m == nil:
		return wanted, ""
	case m.FromCode:
		return map[kind]bool{proxy: true, start: true}, fmt.Sprintf("%s's model %s calls tools from code, where a hook can replace nothing: the proxy, which clears old results, and no hooks.", c.Title, m)
	}
	if err := proxied(); err != nil {
		return wanted, fmt.Sprintf("%s's model %s calls its tools itself: hooks. No proxy: %v.", c.Title, m, err)
	}
	wanted[proxy], wanted[start] = true, true
	return wanted, fmt.Sprintf("%s's model %s calls its tools itself: hooks, and the proxy, which clears old results.", c.Title, m)
}

// idle says that hooks which a flag asks for do nothing with a client's model, and what would; "" if they work or it is not known.
func idle(c *agent.Client, m *agent.Model) string {
	if m == nil || !m.FromCode {
		return ""
	}
	return fmt.Sprintf("%s's model %s calls tools from code, where a hook can replace nothing: these hooks work with a model that calls its tools itself, such as gpt-5.5; with this one init %s --proxy clears old results.", c.Title, m, c.Name)
}

// planned returns the error with which the piece of a kind would be refused.
func planned(all []piece, k kind) error {
	for _, p := range all {
		if p.kind == k {
			_, _, err := p.file.Plan(p.install, p.check)
			return err
		}
	}
	return nil
}

// uninstall works file by file, because a file from which all pieces are removed can be restored to its original
// bytes.
func uninstall(w io.Writer, all, chosen []piece) error {
	var failed error
	for _, file := range filesOf(chosen) {
		text, err := file.Read()
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", file.Path, err))
			continue
		}
		var there, going []piece
		for _, p := range all {
			if p.file != file || text == nil || !p.present(text) {
				continue
			}
			there = append(there, p)
			if slices.ContainsFunc(chosen, func(c piece) bool { return c.kind == p.kind }) {
				going = append(going, p)
			}
		}
		failed = errors.Join(failed, takeOut(w, file, there, going))
	}
	return failed
}

func takeOut(w io.Writer, file setup.File, there, going []piece) error {
	if len(going) == 0 {
		fmt.Fprintf(w, "nothing of mcp-pruner in %s\n", file.Path)
		return nil
	}
	remove := func(text []byte) ([]byte, error) {
		return each(text, going, func(p piece) func([]byte) ([]byte, error) { return p.remove })
	}
	var changed bool
	var err error
	if len(there) == len(going) {
		changed, err = file.Uninstall(func(text []byte) ([]byte, error) {
			return each(text, there, func(p piece) func([]byte) ([]byte, error) { return p.install })
		}, remove)
	} else {
		changed, err = file.Update(remove)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	if changed {
		fmt.Fprintf(w, "taken out of %s\n", file.Path)
	}
	return nil
}

func each(text []byte, list []piece, of func(piece) func([]byte) ([]byte, error)) ([]byte, error) {
	for _, p := range list {
		var err error
		if text, err = of(p)(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

func filesOf(list []piece) []setup.File {
	var files []setup.File
	for _, p := range list {
		if !slices.Contains(files, p.file) {
			files = append(files, p.file)
		}
	}
	return files
}

// show lists the pieces. It returns an error for each file that its client cannot read.
func show(w io.Writer, all []piece) error {
	var failed error
	for _, file := range filesOf(all) {
		if err := unreadable(file); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", file.Path, err))
		}
	}
	for _, p := range all {
		state := "not installed"
		switch {
		case unreadable(p.file) != nil:
			state = "cannot be read"
		case p.installed():
			state = "installed"
		}
		fmt.Fprintf(w, "%-6s %-14s %s\n", p.kind, state, p.file.Path)
	}
	return failed
}
