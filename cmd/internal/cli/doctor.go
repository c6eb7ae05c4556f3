package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"text/tabwriter"

	"mcp-pruner/cmd/internal/settings"
	"mcp-pruner/pruneclient"
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
		appendable("trace", config.Trace),
		appendable("recovery store", config.RecoveryStore),
	}
	if err != nil {
		findings = append(findings, finding{"settings", oneLine(err), true})
	}
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

func root(path string) finding {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return finding{"root", path + " is no directory", true}
	}
	return finding{what: "root", found: path}
}

// appendable says whether a file can be written to, or made and written to.
// Nothing is left of the try.
func appendable(what, path string) finding {
	if path == "" {
		return finding{}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		defer func() { _ = os.Remove(path) }()
	case errors.Is(err, fs.ErrExist):
		if f, err = openExisting(path); err != nil {
			return finding{what, err.Error(), true}
		}
	default:
		return finding{what, err.Error(), true}
	}
	_ = f.Close()
	return finding{what: what, found: path}
}

// openExisting opens no pipe: that could wait for ever.
func openExisting(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeDevice == 0 {
		return nil, fmt.Errorf("%s is no file", path)
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
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
	if err := pruneclient.Reach(ctx, c.PrunerURL); err != nil {
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
