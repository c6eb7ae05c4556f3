package cli

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"mcp-pruner/cmd/internal/settings"
)

// finding is one line of the doctor's report.
type finding struct {
	what, found string
	bad         bool // the server would not start, or would not prune
}

// doctor says what the server would find here. Exit code 1 when something is
// wrong that a user would want to know before an agent does.
func doctor(ctx context.Context, p Process) int {
	config, entries, err := settings.Load(settings.FromEnv(p.Env))
	findings := []finding{
		{what: "version", found: buildVersion()},
		shell(),
		searcher(),
		pruner(ctx, config),
		{what: "root", found: config.Root},
	}
	if err != nil {
		findings = append(findings, finding{"settings", oneLine(err), true})
	}
	code := exitOK
	w := tabwriter.NewWriter(p.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
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
	u, err := url.Parse(c.PrunerURL)
	if err != nil || u.Host == "" {
		return finding{"pruner", "PRUNER_URL is no URL", true}
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	dialer := net.Dialer{Timeout: time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return finding{"pruner", u.Redacted() + " does not answer (" + reason(err) +
			"): output will be returned whole; PRUNER_URL=embedded needs no service", true}
	}
	_ = conn.Close()
	return finding{what: "pruner", found: u.Redacted() + " answers"}
}

// reason is the last part of a network error, which is what a person wants.
func reason(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return parts[len(parts)-1]
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
