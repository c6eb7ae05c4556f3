package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
	"github.com/mcp-pruner/mcp-pruner/pruneclient"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/store"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// finding is one line of the doctor's report.
type finding struct {
	what, found string
	problem     problem
}

func doctorCommand(p command.Process) *cobra.Command {
	var verbose bool
	var port int
	c := &cobra.Command{
		Use: "doctor", SuggestFor: []string{"status"},
		Short: "Say what is installed in which client, and what is wrong",
		Long: `Says first what is installed in which client and when it last worked, then what the
server would find here: shell, rg, pruner, root and files, and with --verbose the settings.
The exit status is 1 when something is wrong that you would want to know before an
agent does.

With --port it asks only the server at that port of this machine how it is, serve (GET
/healthz) or pruner (GET /health), and exits with 0 when it is well. Port 0 is that of
JEEVES_MCP_PRUNER_PORT, else of MCP_PRUNER_PORT.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("port") {
				return healthOf(c.Context(), p, port)
			}
			return doctor(c.Context(), p, verbose)
		},
	}
	c.Flags().IntVar(&port, "port", 0, "ask only the server there how it is")
	c.Flags().BoolVar(&verbose, "verbose", false, "list the settings of the server, too")
	return c
}

func doctor(ctx context.Context, p command.Process, verbose bool) error {
	config, entries, err := settings.Load(settings.Stdio, nil, settings.FromEnv(p.Env))
	findings := []finding{
		{what: "version", found: buildVersion()},
		shell(config.Tools),
		searcher(),
		pruner(ctx, config, p.Env),
		rootFinding(config.Root),
		file("trace", config.Trace, func() (io.Closer, error) { return io.NopCloser(nil), trace.Check(config.Trace) }),
		file("recovery store", config.RecoveryStore, func() (io.Closer, error) {
			return store.OpenOriginals(config.RecoveryStore, recovery.Settings{TTL: config.RecoveryTTL, MaxBytes: config.RecoveryMaxBytes})
		}),
	}
	if err != nil {
		findings = append(findings, finding{"settings", oneLine(err), notAllowed})
	}
	findings = append(findings, clientEntries(ctx, p)...)
	findings = append(findings, strays(p.Env)...)
	for _, again := range prefix.AskedAgain(ctx, p.Lookup) {
		findings = append(findings, finding{again.Client, again.String(), wantedAgain})
	}
	showStates(ctx, p)
	code := command.OK
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(a.problem.rank(), b.problem.rank()) })
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		if f.what == "" {
			continue
		}
		mark := f.problem.mark()
		if mark == "BAD" {
			code = command.Fail
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, f.what, f.found)
	}
	if verbose {
		fmt.Fprintln(w, "\nsetting\tvalue\tfrom")
	}
	for i := 0; verbose && i < len(entries); i++ {
		e := entries[i]
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, orDash(e.Value), e.Source)
	}
	if err := w.Flush(); err != nil && code == command.OK {
		return err
	}
	return command.Exit(code)
}

// strays reports variables that look like settings but are not. Most likely they are misspelled, and the intended
// settings have their defaults.
func strays(env []string) (found []finding) {
	for _, stray := range settings.Unknown(env) {
		message := fmt.Sprintf("%s is set, and %s", stray.Name, noSetting)
		if stray.Intended != "" {
			message += "; did you mean " + stray.Intended + "?"
		}
		found = append(found, finding{"unknown", message, noSetting})
	}
	return found
}

func rootFinding(path string) finding {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return finding{"root", fmt.Sprintf("%s %s", path, noRoot), noRoot}
	}
	return finding{what: "root", found: path}
}

// file reports whether the server could use a file. It opens an existing file as the server does; otherwise it checks
// whether a file can be created in the folder. It leaves nothing behind.
func file(what, path string, open func() (io.Closer, error)) finding {
	if path == "" {
		return finding{}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return folder(what, path)
	}
	f, err := open()
	if err != nil {
		return finding{what, fmt.Sprintf("%s %s: %v", path, cannotBeOpened, reason(err)), cannotBeOpened}
	}
	_ = f.Close()
	return finding{what: what, found: path}
}

func folder(what, path string) finding {
	if target, err := os.Readlink(path); err == nil && filepath.IsAbs(target) {
		path = target
	} else if err == nil {
		path = filepath.Join(filepath.Dir(path), target)
	}
	dir := filepath.Dir(path)
	if err := files.TryAtomic(dir); err != nil {
		return finding{what, fmt.Sprintf("%s %s in %s: %s", path, cannotBeMade, dir, reason(err)), cannotBeMade}
	}
	return finding{what: what, found: path + " (not there yet)"}
}

// reason returns the text of a file system error without the file's name.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// shell looks for a shell, unless the tools that are offered do not include bash.
func shell(offered []string) finding {
	if len(offered) > 0 && !slices.Contains(offered, "bash") {
		return finding{}
	}
	if path, err := tools.FindShell(); err == nil {
		return finding{what: "shell", found: path}
	}
	return finding{"shell", fmt.Sprintf("%s: the tool bash will fail%s", noShell, tools.ShellAdvice(runtime.GOOS)), noShell}
}

func searcher() finding {
	switch path, rg, err := tools.FindSearcher(); {
	case err != nil:
		return finding{"search", fmt.Sprintf("%s: the tool grep searches by itself, which is slower", noSearch), noSearch}
	case rg:
		return finding{what: "search", found: path}
	default:
		return finding{"search", fmt.Sprintf("%s (%s; it would be faster)", path, slowSearch), slowSearch}
	}
}

// pruner reports whether something listens at the address to which output would be sent. A missing service is not worth
// a word if its address is only the default: clients' entries name their own, and hooks ask none.
func pruner(ctx context.Context, c settings.Settings, env []string) finding {
	f := reach(ctx, "pruner", c.PrunerURL)
	if _, set := settings.FromEnv(env)("PRUNER_URL"); f.problem != none && !set {
		return finding{}
	}
	return f
}

// reach reports whether a pruner answers.
func reach(ctx context.Context, what, url string) finding {
	switch url {
	case "":
		return finding{what: what, found: "off (PRUNER_URL is empty)"}
	case settings.Embedded:
		return finding{what: what, found: "embedded, in the server itself"}
	}
	shown := settings.Shown(url)
	switch err := pruneclient.Reach(ctx, url); {
	case errors.Is(err, pruneclient.ErrNoURL): // the server will not start either
		return finding{what, fmt.Sprintf("%s %s; PRUNER_URL=embedded needs no service", shown, noURL), noURL}
	case err != nil:
		return finding{what, fmt.Sprintf("%s %s (%v): output will be returned whole; PRUNER_URL=embedded needs no service", shown, noAnswer, err), noAnswer}
	}
	return finding{what: what, found: shown + " answers"}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
