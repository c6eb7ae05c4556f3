package verbs

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/gateway"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/entry"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// defaultPruner is the pruner of a server whose entry names none.
const defaultPruner = "http://localhost:8000/prune"

// clientEntries reports the entries for this server in the clients' own configurations, whether they would work, and
// which clients have hooks.
func clientEntries(ctx context.Context, p command.Process) (found []finding) {
	dir, err := os.Getwd()
	if err != nil {
		return nil // a bad root is reported elsewhere
	}
	refused, files := refusals(p)
	found = append(found, refused...)
	for _, e := range entry.All(setup.Home{Lookup: p.Lookup}, dir) {
		if e.Err == nil || !slices.Contains(files, e.File) {
			if isGateway(e) && runs(e.Command, p.Env) {
				found = append(found, behindGateway(ctx, p, e)...)
				continue
			}
			found = append(found, client(ctx, p.Env, e))
		}
	}
	all := initcmd.AllHooked(p)
	for _, h := range all {
		found = append(found, hooked(ctx, p.Env, h, all))
	}
	for _, c := range initcmd.AllProxied(p) {
		found = append(found, proxyOf(ctx, p, c))
	}
	if len(found) == 0 {
		return []finding{{"clients", fmt.Sprintf(`%s, or hooks: "mcp-pruner init claude" adds hooks, with --mcp the server`, noClient), noClient}}
	}
	return found
}

// refusals reports the files of clients that init would refuse to change, with its words, and returns their paths.
func refusals(p command.Process) (found []finding, files []string) {
	for _, r := range initcmd.Refusals(p) {
		f := finding{r.Client, fmt.Sprintf("%s: %v", r.File, r.Err), cannotBeRead}
		switch {
		case r.File == "":
			f = finding{"clients", r.Err.Error(), cannotBeFound}
		case !r.Broken:
			f.found, f.problem = fmt.Sprintf("%s %s by init: %v", r.File, cannotBeChanged, r.Err), cannotBeChanged
		}
		if !slices.Contains(found, f) {
			found = append(found, f)
		}
		files = append(files, r.File)
	}
	return found, files
}

// hooked reports a client's hooks, and whether the program that they start is there.
func hooked(ctx context.Context, env []string, h initcmd.Hooked, all []initcmd.Hooked) finding {
	if h.Plugin {
		return plugin(env, h, all)
	}
	if filepath.IsAbs(h.Program) && !runs(h.Program, env) {
		found := fmt.Sprintf(`hooks in %s: %q %s; "mcp-pruner init %s --hooks" puts it right`, h.File, h.Program, cannotBeStarted, h.Client)
		return finding{h.Client, found, cannotBeStarted}
	}
	if version := versionOf(ctx, env, h.Program); version != "" && version != versionLine() {
		found := fmt.Sprintf(`hooks in %s: %q %s (%s); "mcp-pruner init %s --hooks" makes them start this one`, h.File, h.Program, otherVersion, version, h.Client)
		return finding{h.Client, found, otherVersion}
	}
	return finding{what: h.Client, found: "hooks in " + h.File}
}

// versionWithin is the time limit for a program to say its version.
const versionWithin = 2 * time.Second

// versionOf returns what the program of a hook says of its version, "" if it is this program or says nothing.
func versionOf(ctx context.Context, env []string, program string) string {
	own, _, err := command.Self()
	if err != nil || !filepath.IsAbs(program) || program == own {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.Env, cmd.WaitDelay = env, versionWithin
	out, _ := cmd.Output() // what it printed until an error
	line, _, _ := strings.Cut(string(out), "\n")
	return strings.TrimSpace(line)
}

// plugin reports the plugin of a client. Beside the hooks of init, both would work on every result.
func plugin(env []string, h initcmd.Hooked, all []initcmd.Hooked) finding {
	f := finding{what: h.Client, found: "plugin in " + h.File}
	twice := slices.ContainsFunc(all, func(o initcmd.Hooked) bool { return o.Client == h.Client && !o.Plugin })
	switch {
	case !runs(command.Program, env):
		f.found, f.problem = fmt.Sprintf("%s: %q %s; put its folder on PATH", f.found, command.Program, cannotBeStarted), cannotBeStarted
	case twice:
		f.found, f.problem = fmt.Sprintf(`%s %s; "mcp-pruner init %s --hooks --uninstall" leaves the plugin`, f.found, hookedTwice, h.Client), hookedTwice
	}
	return f
}

func client(ctx context.Context, env []string, e entry.Entry) finding {
	f := finding{what: e.Client}
	switch {
	case e.Err != nil:
		f.found, f.problem = e.Err.Error(), cannotBeRead
		return f
	case e.URL != "":
		return served(e)
	case !runs(e.Command, env):
		f.found, f.problem = fmt.Sprintf("%s in %s: %q %s; %s", e.Name, e, e.Command, cannotBeStarted, mend(e)), cannotBeStarted
		return f
	}
	where, set := e.Env["PRUNER_URL"]
	if !set {
		where = defaultPruner
	}
	f = reach(ctx, e.Client, where)
	f.found = fmt.Sprintf("%s in %s: %s", e.Name, e, f.found)
	return f
}

// gatewayWithin is the time for which doctor waits for the servers of a gateway.
const gatewayWithin = 10 * time.Second

// isGateway reports whether an entry starts the gateway. Without prune_over, which needs no service, it prunes nothing.
func isGateway(e entry.Entry) bool { return e.Err == nil && len(e.Args) > 0 && e.Args[0] == "gateway" }

// behindGateway reports how many servers of a gateway's entry answer, and those that cannot be used.
func behindGateway(ctx context.Context, p command.Process, e entry.Entry) []finding {
	if len(e.Args) < 2 {
		return []finding{{e.Client, fmt.Sprintf("%s in %s names no file with servers; \"mcp-pruner gateway init %s\" writes one", e.Name, e, e.Client), cannotBeRead}}
	}
	f := gatewayFlags{mode: gateway.Auto, target: upstream.DefaultTarget}
	g, err := f.open(p, e.Args[len(e.Args)-1])
	if err != nil {
		return []finding{{e.Client, fmt.Sprintf("%s in %s: %v", e.Name, e, err), cannotBeRead}}
	}
	defer g.Close()
	g.Wait(ctx, gatewayWithin, false)
	ready, all := g.Ready()
	found := []finding{{what: e.Client, found: fmt.Sprintf("%s in %s: %d of %d servers answer", e.Name, e, ready, all)}}
	for _, trouble := range g.Troubles() {
		found = append(found, finding{e.Client, fmt.Sprintf("%s in %s: %s", e.Name, e, trouble), cannotBeStarted})
	}
	return found
}

// served reports an entry for a server over HTTP, which need not be running now.
func served(e entry.Entry) finding {
	address, err := url.Parse(e.URL)
	if err != nil || address.Host == "" {
		return finding{e.Client, fmt.Sprintf("%s in %s: %q %s", e.Name, e, settings.Shown(e.URL), noURL), noURL}
	}
	return finding{what: e.Client, found: fmt.Sprintf("%s in %s: over HTTP at %s", e.Name, e, address.Host)}
}

// mend returns advice on how to correct an entry.
func mend(e entry.Entry) string {
	if line := agent.Named(e.Client).RemovesServer; line != nil {
		return fmt.Sprintf("\"%s %s\" and then \"mcp-pruner init %s --mcp\" put it right", strings.Join(line, " "), e.Name, e.Client)
	}
	return "name the program by its whole path there"
}

// runs reports whether a command can be started with this PATH.
func runs(command string, env []string) bool {
	if filepath.IsAbs(command) {
		info, err := os.Stat(command)
		return err == nil && info.Mode().IsRegular()
	}
	return system.Here(env).LookPath(command) != ""
}
