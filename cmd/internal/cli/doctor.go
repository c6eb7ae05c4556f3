package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mcp-pruner/cmd/internal/command"
	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm/trace"
	"mcp-pruner/pruneclient"
	"mcp-pruner/pruneclient/recovery"
	"mcp-pruner/tools"
)

// finding is one line of the doctor's report.
type finding struct {
	what, found string
	bad         bool // the server would not start, or would not prune
	note        bool // worth knowing, and nothing is wrong
}

func (f finding) mark() string {
	switch {
	case f.bad:
		return "BAD"
	case f.note:
		return "note"
	}
	return "ok"
}

func doctorCommand(p command.Process) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what the server would find: shell, rg, pruner, root, settings",
		Long: `Says what the server would find here: shell, rg, pruner, root, files and settings.
The exit status is 1 when something is wrong that you would want to know before an
agent does.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error { return command.Exit(doctor(c.Context(), p)) },
	}
}

// doctor prints the report and returns the exit code.
func doctor(ctx context.Context, p command.Process) int {
	config, entries, err := settings.Load(settings.Stdio, nil, settings.FromEnv(p.Env))
	findings := []finding{
		{what: "version", found: buildVersion()},
		shell(),
		searcher(),
		pruner(ctx, config, prunerIsSet(p.Env)),
		rootFinding(config.Root),
		file("trace", config.Trace, func() (io.Closer, error) { return io.NopCloser(nil), trace.Check(config.Trace) }),
		file("recovery store", config.RecoveryStore, func() (io.Closer, error) {
			return recovery.Open(recovery.Settings{
				TTL: config.RecoveryTTL, MaxBytes: config.RecoveryMaxBytes, File: config.RecoveryStore,
			})
		}),
	}
	if err != nil {
		findings = append(findings, finding{what: "settings", found: oneLine(err), bad: true})
	}
	findings = append(findings, clientEntries(ctx, p.Env)...)
	findings = append(findings, strays(p.Env)...)
	code := command.OK
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		if f.what == "" {
			continue
		}
		if f.bad {
			code = command.Fail
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.mark(), f.what, f.found)
	}
	fmt.Fprintln(w, "\nsetting\tvalue\tfrom")
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, orDash(e.Value), e.Source)
	}
	_ = w.Flush()
	return code
}

// strays are variables that look like settings and are not: most likely they are
// misspelled, and what they were meant to set has its default.
func strays(env []string) (found []finding) {
	for _, stray := range settings.Unknown(env) {
		message := fmt.Sprintf("%s is set, and there is no such setting", stray.Name)
		if stray.Intended != "" {
			message += "; did you mean " + stray.Intended + "?"
		}
		found = append(found, finding{what: "unknown", found: message, bad: true})
	}
	return found
}

func rootFinding(path string) finding {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return finding{what: "root", found: path + " is no directory", bad: true}
	}
	return finding{what: "root", found: path}
}

// file says whether the server could use a file: where it is there by opening it
// as the server does, else by whether one can be made beside it. Nothing is left.
func file(what, path string, open func() (io.Closer, error)) finding {
	if path == "" {
		return finding{}
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return folder(what, path)
	}
	f, err := open()
	if err != nil {
		return finding{what: what, found: err.Error(), bad: true}
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
	f, err := os.CreateTemp(dir, ".mcp-pruner-doctor-*")
	if err != nil {
		return finding{what: what, found: path + " cannot be made in " + dir + ": " + reason(err), bad: true}
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return finding{what: what, found: path + " (not there yet)"}
}

// reason is an error of the file system without the name it was met at.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

func shell() finding {
	if path, err := tools.FindShell(); err == nil {
		return finding{what: "shell", found: path}
	}
	return finding{what: "shell", found: "neither bash nor sh is on PATH: the tool bash will fail", bad: true}
}

func searcher() finding {
	if path, err := exec.LookPath("rg"); err == nil {
		return finding{what: "search", found: path}
	}
	if path, err := exec.LookPath("grep"); err == nil {
		return finding{what: "search", found: path + " (rg is not on PATH; it would be faster)"}
	}
	return finding{what: "search", found: "neither rg nor grep is on PATH: the tool grep will fail", bad: true}
}

// prunerIsSet says whether the environment itself says where to prune. What clients
// start has the environment of its own entry.
func prunerIsSet(env []string) bool {
	_, set := settings.FromEnv(env)("PRUNER_URL")
	return set
}

// pruner says whether something listens where output would be sent. Nobody asked for
// the default service, so that it is no fault when there is none.
func pruner(ctx context.Context, c settings.Settings, set bool) finding {
	f := reach(ctx, "pruner", c.PrunerURL)
	if f.bad && !set {
		return finding{what: "pruner", note: true, found: "PRUNER_URL is not set here, and no service answers at " + settings.Shown(c.PrunerURL) +
			": output would come back whole; PRUNER_URL=embedded prunes without a service"}
	}
	return f
}

// reach says whether a pruner answers.
func reach(ctx context.Context, what, url string) finding {
	switch url {
	case "":
		return finding{what: what, found: "off (PRUNER_URL is empty)"}
	case settings.Embedded:
		return finding{what: what, found: "embedded, in the server itself"}
	}
	shown := settings.Shown(url)
	switch err := pruneclient.Reach(ctx, url); {
	case errors.Is(err, pruneclient.ErrNoURL): // and the server will not start
		return finding{what: what, found: shown + " is no URL; PRUNER_URL=embedded needs no service", bad: true}
	case err != nil:
		return finding{what: what, found: shown + " does not answer (" + err.Error() +
			"): output will be returned whole; PRUNER_URL=embedded needs no service", bad: true}
	}
	return finding{what: what, found: shown + " answers"}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
