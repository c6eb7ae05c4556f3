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
	"slices"
	"strings"
	"text/tabwriter"

	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/fsm"
	"mcp-pruner/pruneclient"
	"mcp-pruner/pruneclient/recovery"
)

// finding is one line of the doctor's report.
type finding struct {
	what, found string
	bad         bool // the server would not start, or would not prune
}

// doctor says what the server would find here. Exit code 1 when something is
// wrong that a user would want to know before an agent does.
func doctor(ctx context.Context, p Process) int {
	if code, done := noArguments(p, "doctor", "says what the server would find here: shell, rg, pruner, root, files and settings"); done {
		return code
	}
	config, entries, err := settings.Load(settings.FromEnv(p.Env))
	findings := []finding{
		{what: "version", found: buildVersion()},
		shell(),
		searcher(),
		pruner(ctx, config),
		root(config.Root),
		file("trace", config.Trace, func() (io.Closer, error) { return fsm.OpenTrace(config.Trace, 0, nil) }),
		file("recovery store", config.RecoveryStore, func() (io.Closer, error) {
			return recovery.Open(recovery.Settings{
				TTL: config.RecoveryTTL, MaxBytes: config.RecoveryMaxBytes, File: config.RecoveryStore,
			})
		}),
	}
	if err != nil {
		findings = append(findings, finding{"settings", oneLine(err), true})
	}
	findings = append(findings, strays(p.Env, entries)...)
	code := exitOK
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		if f.what == "" {
			continue
		}
		mark := "ok"
		if f.bad {
			mark, code = "BAD", exitFail
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", mark, f.what, f.found)
	}
	fmt.Fprintln(w, "\nsetting\tvalue\tfrom")
	for _, e := range entries {
		fmt.Fprintf(w, "%s\t%s\t%s\n", e.Name, orDash(e.Value), e.Source)
	}
	_ = w.Flush()
	return code
}

// strays are variables that look like the server's settings and are none: they may
// be misspelled, or meant for another program of ours.
func strays(env []string, entries []settings.Entry) (found []finding) {
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		ours := value != "" && (strings.HasPrefix(name, "MCP_PRUNER_") || strings.HasPrefix(name, "PRUNER_"))
		if ours && !slices.ContainsFunc(entries, func(e settings.Entry) bool { return e.Name == name }) {
			found = append(found, finding{what: "unknown", found: fmt.Sprintf("%q is set, and this server has no such setting", name)})
		}
	}
	return found
}

func root(path string) finding {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return finding{"root", path + " is no directory", true}
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
		return finding{what, err.Error(), true}
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
		return finding{what, path + " cannot be made in " + dir + ": " + reason(err), true}
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
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return finding{what: "shell", found: path}
		}
	}
	return finding{"shell", "neither bash nor sh is on PATH: the tool bash will fail", true}
}

func searcher() finding {
	if path, err := exec.LookPath("rg"); err == nil {
		return finding{what: "search", found: path}
	}
	if path, err := exec.LookPath("grep"); err == nil {
		return finding{what: "search", found: path + " (rg is not on PATH; it would be faster)"}
	}
	return finding{"search", "neither rg nor grep is on PATH: the tool grep will fail", true}
}

// pruner says whether something listens where output would be sent.
func pruner(ctx context.Context, c settings.Settings) finding {
	switch c.PrunerURL {
	case "":
		return finding{what: "pruner", found: "off (PRUNER_URL is empty)"}
	case settings.Embedded:
		return finding{what: "pruner", found: "embedded, in this process"}
	}
	shown := settings.Shown(c.PrunerURL)
	switch err := pruneclient.Reach(ctx, c.PrunerURL); {
	case errors.Is(err, pruneclient.ErrNoURL): // and the server will not start
		return finding{"pruner", shown + " is no URL; PRUNER_URL=embedded needs no service", true}
	case err != nil:
		return finding{"pruner", shown + " does not answer (" + err.Error() +
			"): output will be returned whole; PRUNER_URL=embedded needs no service", true}
	}
	return finding{what: "pruner", found: shown + " answers"}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
