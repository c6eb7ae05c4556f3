package initcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/terminal"
)

// latestFiles is the number of transcripts, the latest, from which is said what pays: some seconds of work.
const latestFiles = 100

// Transcripts returns the existing folders and databases in which the clients on this machine keep their transcripts. It is
// an error if there are none, or if the home folder is not known.
func Transcripts(lookup func(string) (string, bool)) ([]string, error) {
	var found []string
	for _, c := range recorded() {
		paths, err := setup.Home{Lookup: lookup}.Transcripts(c)
		if err != nil {
			return nil, err
		}
		found = append(found, paths...)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no sessions of %s on this machine: \"mcp-pruner init\" sets up what works without them; or name a file or folder of sessions", command.Or(agent.Titles(recorded())))
	}
	slices.Sort(found)
	return found, nil
}

func recorded() []*agent.Client {
	return agent.With(func(c *agent.Client) bool { return c.Transcripts.Folder != "" })
}

// Latest returns the files of the sessions in paths, the latest first.
func Latest(paths []string) ([]string, error) {
	list, err := sessions.Files(paths)
	if err != nil {
		return nil, err
	}
	changed := map[string]time.Time{}
	for _, file := range list {
		if info, err := os.Stat(file); err == nil {
			changed[file] = info.ModTime()
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(changed[b].Compare(changed[a]), cmp.Compare(a, b)) })
	return list, nil
}

// Advise bills the latest sessions in paths: what each part of this program would have saved there, and the results that hooks would
// have cut.
func Advise(ctx context.Context, p command.Process, paths []string) (list []replay.Advice, cuts []replay.Example, skipped []string, err error) {
	files, err := Latest(paths)
	if err != nil {
		return nil, nil, nil, err
	}
	return replay.Advise(ctx, replay.Settings{Files: files[:min(len(files), latestFiles)], Others: settings.FindOtherTools(p.Lookup)})
}

// WriteAdvice prints the advice for one client, best first, with the command that turns each part on.
func WriteAdvice(w io.Writer, a replay.Advice) {
	_, _ = fmt.Fprintf(w, "%s, %s%s\n", titleOf(a.Client), terminal.Count(a.Sessions, "session"), daysOf(a))
	if a.Warning != "" {
		_, _ = fmt.Fprintln(w, " ", a.Warning)
	}
	for _, o := range a.Offers {
		_, _ = fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %s  %s", figures(o), whatToDo(a, o)), " "))
	}
	if len(a.Offers) > 0 {
		_, _ = fmt.Fprintf(w, "  %-8s %+6.1f %% (%+.1f)\n", "together", a.Together.Net, a.Together.Misses2)
	}
}

// figures names a part with what it would have saved.
func figures(o replay.Offer) string {
	return fmt.Sprintf("%-8s %+6.1f %% (%+.1f), %d %s", partName(o.Policy), o.Net, o.Misses2, o.Lost, terminal.Plural(o.Lost, "loses", "lose"))
}

// Estimated is said wherever these figures are shown.
const Estimated = "Clearing leaves out earlier thinking, too; what it would cost to think again is a guess, which no session shows."

func titleOf(source string) string { return cmp.Or(agent.Named(source).Title, source, "Sessions") }

func daysOf(a replay.Advice) string {
	if a.From.IsZero() {
		return ""
	}
	from, to := a.From.Format("2 Jan 2006"), a.To.Format("2 Jan 2006")
	if from == to {
		return " of " + from
	}
	return fmt.Sprintf(", %s to %s", from, to)
}

// partName is what users call a part of the program.
func partName(p replay.Policy) string {
	switch p {
	case replay.GC:
		return "clearing"
	case replay.Context:
		return "prefix"
	}
	return "hooks"
}

// whatToDo is the command that turns a part on, or why not to.
func whatToDo(a replay.Advice, o replay.Offer) string {
	do := turnOn(agent.Named(a.Client), o.Policy)
	switch {
	case o.Net <= 0 || agent.Named(a.Client).Name != "" && do == "":
		return "not here"
	case do == "":
		return ""
	case o.Pays:
		return do
	case o.Policy == replay.Hook && slices.ContainsFunc(a.Offers, func(other replay.Offer) bool { return other.Policy == replay.GC && other.Pays }):
		return do + " (adds nothing beside clearing)"
	}
	return do + " (not sure to pay)"
}

// turnOn is the command that turns a part on; "" if the client has none.
func turnOn(c *agent.Client, p replay.Policy) string {
	switch {
	case p == replay.GC && c.Proxy != nil:
		return fmt.Sprintf("mcp-pruner init %s --proxy", c.Name)
	case p == replay.Context && c.Prefix != nil:
		return "mcp-pruner context " + c.Name
	case p == replay.Hook && c.Hooks != nil && !c.Hooks.AsErrors:
		return fmt.Sprintf("mcp-pruner init %s --hooks", c.Name)
	}
	return ""
}

// sure reports whether an offer is taken without a question: it pays, and nothing that the user has is switched off by it.
func sure(o replay.Offer) bool { return o.Pays && o.Policy != replay.Context }
