package runcmd

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	serversettings "github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/inject"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

const installHelp = `Adds the server to the client's own configuration, with the client's own command
("claude mcp add-json", "codex mcp add"), and says what it did. The server then serves the
directory the client works in and prunes by itself; JEEVES_PRUNER_URL or PRUNER_URL in the
environment names a service instead. Running it again changes nothing. Options that are not
listed here go to that command: for claude, --scope user adds the server for every project.`

// InstallCommand returns the verb install.
func InstallCommand(p command.Process) *cobra.Command {
	var show, uninstall bool
	names := agent.Names(installable())
	c := &cobra.Command{
		Use: "install " + strings.Join(names, "|") + " [flags] [OPTIONS OF THE CLIENT]", DisableFlagsInUseLine: true, Short: "Add the server to claude's or codex's own configuration",
		Long: installHelp,
	}
	c.Flags().BoolVar(&show, "show", false, "say what the client's configuration has, and change nothing")
	c.Flags().BoolVar(&uninstall, "uninstall", false, "take the entry out again")
	return mixed(c, func(client, after []string) error {
		switch {
		case len(client) == 0 || agent.Named(client[0]).Install == nil:
			return command.Usagef("name the client first: %s", command.Or(names))
		case isHelp(client[1:]):
			return c.Help()
		case show && uninstall:
			return command.Usagef("--show or --uninstall, not both")
		}
		// Unless configured otherwise, the server prunes with the embedded pruner.
		set, servers, code := injection(append([]string{"PRUNER_URL=embedded"}, p.Env...), p.Stderr)
		if code != command.OK {
			return command.Exit(code)
		}
		if _, err := homeOf(p.Env).Files(client[0]); err != nil {
			return err
		}
		i := newInstallation(c.Context(), p, set, servers, client[0])
		i.options = append(client[1:], after...)
		notePruner(c.Context(), servers, p.Stderr)
		do := i.install
		switch {
		case show:
			do = i.show
		case uninstall:
			do = i.uninstall
		}
		if err := do(); err != nil {
			fmt.Fprintf(p.Stderr, "mcp-pruner: %v\n", err)
			return command.Exit(command.Fail)
		}
		return nil
	})
}

func newInstallation(ctx context.Context, p command.Process, set inject.Settings, servers inject.Servers, client string) installation {
	return installation{
		Installer: *agent.Named(client).Install, client: client, env: p.Env,
		server: published(lasting(servers[inject.ServerName]), runtime.GOOS),
		found:  entry.Of(client, homeOf(p.Env), set.Dir),
		run: func(line, shown []string) error {
			fmt.Fprintf(p.Stdout, "running: %s\n", shellLine(shown))
			return runClient(ctx, line, p.Env, p.Stdin, p.Stdout, p.Stderr)
		},
		stdout: p.Stdout,
	}
}

// installation is one call of the verb.
type installation struct {
	agent.Installer
	client  string
	options []string // options for the client itself
	env     []string
	server  inject.Server
	found   []entry.Entry                       // entries in the client's configuration
	run     func(command, shown []string) error // shown is the command without passwords
	stdout  io.Writer
}

// show prints the entries.
func (i installation) show() error {
	for _, e := range i.found {
		if e.Err != nil {
			return e.Err
		}
		what := e.URL
		if e.Command != "" {
			what = shellLine(append([]string{e.Command}, e.Args...))
		}
		fmt.Fprintf(i.stdout, "%s: %s in %s: %s\n", i.client, e.Name, e, what)
		for _, name := range slices.Sorted(maps.Keys(e.Env)) {
			fmt.Fprintf(i.stdout, "  %s=%s\n", name, serversettings.Shown(e.Env[name]))
		}
	}
	if len(i.found) == 0 {
		fmt.Fprintf(i.stdout, "%s: there is no entry; \"mcp-pruner install %s\" adds one\n", i.client, i.client)
	}
	return nil
}

// install adds the entry and replaces an older one of this program.
func (i installation) install() error {
	for _, e := range i.inScope(i.scope()) {
		switch {
		case e.Err != nil:
			return e.Err
		case e.Same(i.server):
			fmt.Fprintf(i.stdout, "%s: the server is there already, in %s\n", i.client, e)
			return nil
		case !e.Starts() && e.Command != i.server.Command:
			return fmt.Errorf("%s has another server named %s, in %s: take it out first", i.client, e.Name, e)
		}
		if err := i.run(i.remove(e.Scope), i.remove(e.Scope)); err != nil {
			return fmt.Errorf("%s did not take the older entry out: %w", i.client, err)
		}
	}
	if err := i.run(i.add(i.server, i.options), i.add(withoutPasswords(i.server), eachShown(i.options))); err != nil {
		return fmt.Errorf("%s did not add the server: %w", i.client, err)
	}
	fmt.Fprint(i.stdout, i.After)
	fmt.Fprintf(i.stdout, worth, i.client)
	return nil
}

// worth says when the server pays. A test compares it with docs/BILL.md.
const worth = `what to expect: beside the client's own tools the server costs more than it saves in most sessions, because its definitions and
  questions cost tokens, too; hooks save there: mcp-pruner init %s --hooks
  Where it has the only tools that read, search and run, as in an agent of your own, it saves in sessions with large results. Your own sessions: mcp-pruner replay
`

// withoutPasswords returns a server whose addresses can be shown. Whole command lines cannot be searched for passwords,
// because what looks like one may be part of a path.
func withoutPasswords(s inject.Server) inject.Server {
	s.Env = maps.Clone(s.Env)
	for name, value := range s.Env {
		s.Env[name] = serversettings.Shown(value)
	}
	s.Args = eachShown(s.Args)
	return s
}

func eachShown(words []string) []string {
	shown := slices.Clone(words)
	for i, w := range shown {
		shown[i] = serversettings.Shown(w)
	}
	return shown
}

// uninstall removes every entry of this program in the user's own configuration, or the entry in the given
// scope.
func (i installation) uninstall() error {
	entries := i.inScope(i.scope())
	if len(scopeOf(i.options)) == 0 {
		entries = append(entries, i.inScope("user")...)
	}
	removed := 0
	for _, e := range entries {
		switch {
		case e.Err != nil:
			return e.Err
		case !e.Starts() && e.Command != i.server.Command:
			fmt.Fprintf(i.stdout, "%s: %s in %s is another server and stays\n", i.client, e.Name, e)
			continue
		}
		if err := i.run(i.remove(e.Scope), i.remove(e.Scope)); err != nil {
			return fmt.Errorf("%s did not take the server out: %w", i.client, err)
		}
		removed++
	}
	if removed == 0 {
		fmt.Fprintf(i.stdout, "%s: there is nothing to take out\n", i.client)
	}
	return nil
}

// inScope returns the entries of one scope that have this program's entry name.
func (i installation) inScope(scope string) []entry.Entry {
	return slices.DeleteFunc(slices.Clone(i.found), func(e entry.Entry) bool {
		return e.Err == nil && (e.Scope != scope || e.Name != inject.ServerName)
	})
}

// scope returns the scope that the client's command will write to.
func (i installation) scope() string {
	if i.Scope == "" {
		return ""
	}
	if given := scopeOf(i.options); len(given) > 0 {
		return given[len(given)-1]
	}
	return i.Scope
}

// scopeOf returns the values of claude's option --scope.
func scopeOf(options []string) (values []string) {
	for n, o := range options {
		name, value, attached := strings.Cut(o, "=")
		switch {
		case name != "--scope" && name != "-s":
		case attached:
			values = append(values, value)
		case n+1 < len(options):
			values = append(values, options[n+1])
		}
	}
	return values
}

// published returns the entry for a program that is in npx's cache: a command that finds it there again or
// downloads it. system is a name as in runtime.GOOS.
func published(s inject.Server, system string) inject.Server {
	if !command.InNpxCache(s.Command, system) {
		return s
	}
	s.Command, s.Args = "npx", []string{"-y", "mcp-pruner"}
	if system == "windows" { // npx is a script there
		s.Command, s.Args = "cmd", []string{"/c", "npx", "-y", "mcp-pruner"}
	}
	return s
}

func homeOf(env []string) setup.Home {
	return setup.Home{Lookup: serversettings.FromEnv(env)}
}

// installable are the clients with a command that adds a server.
func installable() []*agent.Client {
	return agent.With(func(c *agent.Client) bool { return c.Install != nil })
}

// add returns the client's command that adds a server.
func (i installation) add(s inject.Server, options []string) []string {
	line := slices.Concat(i.Add, options)
	if i.JSON {
		return append(line, inject.ServerName, s.JSON())
	}
	for _, variable := range s.EnvList() {
		line = append(line, "--env", variable)
	}
	line = append(line, inject.ServerName, "--", s.Command)
	return append(line, s.Args...)
}

// remove returns the client's command that removes the server from a scope.
func (i installation) remove(scope string) []string {
	line := slices.Clone(i.Remove)
	if i.Scope != "" {
		line = append(line, "--scope", scope)
	}
	return append(line, inject.ServerName)
}

// lasting returns the entry for future sessions. It omits the root of this session, so that the server
// serves the directory it is started in.
func lasting(s inject.Server) inject.Server {
	env := make(map[string]string, len(s.Env))
	for name, value := range s.Env {
		if name != "MCP_PRUNER_CWD" {
			env[name] = value
		}
	}
	s.Env = env
	return s
}

func runClient(ctx context.Context, command, env []string, stdin io.Reader, stdout, stderr io.Writer) error {
	program, err := system.Here(env).ClientPath(command[0], command[1:])
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, stdin, stdout, stderr
	return cmd.Run()
}

func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if strings.Trim(w, shellPlain) != "" {
			quoted[i] = shellQuote(w)
		}
	}
	return strings.Join(quoted, " ")
}

// shellPlain are the characters that need no quotes in a shell.
const shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@+"
