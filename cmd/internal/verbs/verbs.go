// Package verbs implements the command line of mcp-pruner: the tree of its verbs, one line for each, and the server
// that runs without a verb.
// A verb has a file of its name; what only it needs stands there, or in files whose names begin with the verb.
package verbs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/proxy"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/initcmd"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/verbs/runcmd"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// Groups of the help. A verb of neither is found by its own help and by the pages: clients run it, or few people need it.
const (
	forYou   = "you"
	forTeams = "teams"
)

// Root returns the tree of commands. Man pages and completions are generated from it.
func Root(p command.Process) *cobra.Command {
	root := stdioCommand(p)
	root.AddGroup(&cobra.Group{ID: forYou, Title: "For you:"}, &cobra.Group{ID: forTeams, Title: "For teams:"})
	group(root, forYou, initcmd.Command(p, func(ctx context.Context, client string) int { return applyContext(ctx, p, client) }), tryCommand(p), gainCommand(p), viewCommand(p), replayCommand(p), contextCommand(p),
		pruneCommand(p), runcmd.RunCommand(p, buildVersion()), doctorCommand(p), initcmd.UninstallCommand(p, uninstallFirst(p), uninstallLast(p)))
	group(root, forTeams, httpCommand(p), gatewayCommand(p), proxy.Command(p, buildVersion()), keysCommand(p))
	root.AddCommand(gcCommand(p, buildVersion()), traceCommand(p), recoverCommand(p), hook.PauseCommand(p), prunerCommand(p), storeCommand(p), fsmCommand(p),
		hook.Command(p), statusCommand(p))
	root.SetUsageTemplate(ungrouped.ReplaceAllString(root.UsageTemplate(), ""))
	command.Completions(root)
	return root
}

// ungrouped is the part of cobra's template that lists verbs without a group.
var ungrouped = regexp.MustCompile(`(?s)\{\{if not \.AllChildCommandsHaveGroup\}\}.*?\{\{end\}\}\{\{end\}\}\{\{end\}\}`)

// group adds verbs under a common heading of the help.
func group(root *cobra.Command, id string, verbs ...*cobra.Command) {
	for _, v := range verbs {
		v.GroupID = id
	}
	root.AddCommand(verbs...)
}

// renamed are verbs of earlier versions that are said in another way now, which means the same.
var renamed = map[string][]string{
	"version": {"--version"},
	"health":  {"doctor", "--port", "0"}, // health checks of containers
}

// removed are verbs of earlier versions, and what to run instead.
var removed = map[string]string{
	"demo":    "mcp-pruner prune -q QUESTION FILE",
	"config":  "mcp-pruner init CLIENT --mcp; docs/CLIENTS.md has the entry for a client that init does not know",
	"install": "mcp-pruner init CLIENT --mcp",
}

// Run runs the verb that the arguments name and returns the exit code.
func Run(p command.Process) int {
	if len(p.Args) == 0 {
		return execute(Root, p)
	}
	verb, rest := p.Args[0], p.Args[1:]
	if verb == keeper.Verb { // the supervisor between this program and a client that it runs
		_, _, stop := command.Signals(context.Background(), endSignals()...)
		defer stop()
		surviveClosedPipes()
		return keeper.Main(rest)
	}
	if instead := removed[verb]; instead != "" {
		if len(rest) > 0 && agent.Named(rest[0]).Name != "" {
			instead = strings.ReplaceAll(instead, "CLIENT", agent.Named(rest[0]).Name)
		}
		_, _ = fmt.Fprintf(p.Stderr, "mcp-pruner: there is no %s any more. Instead: %s\n", verb, instead)
		return command.Usage
	}
	if now := renamed[verb]; now != nil {
		p.Args = append(slices.Clone(now), rest...)
	}
	return execute(Root, p)
}

// RunHTTP runs the HTTP server as a program of its own and returns the exit code.
func RunHTTP(p command.Process) int {
	return execute(func(p command.Process) *cobra.Command {
		serve := httpCommand(p)
		serve.Use = strings.Replace(serve.Use, "serve", "jeeves-mcp-pruner", 1)
		return serve
	}, p)
}

// modelsFile is where in the state folder a user's own rows of models are.
const modelsFile = "models.json"

// useModels reads the user's own rows of models. A file that cannot be read changes nothing, and it is said.
func useModels(p command.Process) {
	dir, err := files.StateDir(p.Lookup)
	if err != nil {
		return
	}
	path := filepath.Join(dir, modelsFile)
	text, err := os.ReadFile(path)
	if err == nil {
		err = tokens.UseFile(text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		_, _ = fmt.Fprintf(p.Stderr, "mcp-pruner: %s is not used: %v\n", path, err)
	}
}

func execute(tree func(command.Process) *cobra.Command, p command.Process) int {
	ctx, hurry, stop := command.Signals(context.Background(), endSignals()...)
	defer stop()
	surviveClosedPipes()
	p.Hurry = hurry
	useModels(p)
	return command.Execute(ctx, tree(p), p)
}
