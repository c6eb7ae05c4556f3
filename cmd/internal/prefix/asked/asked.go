// Package asked finds what context switched off and somebody wants again: a session called it, or its user installed it anew.
package asked

import (
	"context"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/capture"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/change"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix/usage"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/statedir"
)

// Again is a thing that is off and wanted.
type Again struct {
	Client, Name, Why string
	Undo              string // the command that brings it back
}

func (a Again) String() string {
	return fmt.Sprintf("%s is switched off, and %s; %q switches on again what is off", a.Name, a.Why, a.Undo)
}

// For returns what is wanted again. Sessions since the change count.
func For(ctx context.Context, lookup func(string) (string, bool)) (list []Again) {
	state, err := statedir.Find(lookup)
	if err != nil {
		return nil
	}
	for _, n := range change.Notes(state) {
		client := agent.Named(n.Client)
		if client.Prefix == nil {
			continue
		}
		called := usage.Called(ctx, usage.Options{Client: client, Lookup: lookup, Folder: n.Folder, Now: time.Now(), Since: n.When})
		project := capture.Project{Client: client, Folder: n.Folder, Lookup: lookup}
		for _, o := range n.Off {
			a := Again{Client: n.Client, Name: o.Name, Undo: "mcp-pruner context " + n.Client + " --undo"}
			switch entry := project.Entry(o.Name); {
			case wanted(o, called):
				a.Why = "a session called it"
			case o.Kind == "server" && o.Entry != "" && entry != "" && entry != o.Entry:
				a.Why = "you installed it again"
			default:
				continue
			}
			list = append(list, a)
		}
	}
	return list
}

// wanted reports whether a call was of the thing. Another tool that went with its switch counts as the thing, too.
func wanted(o change.Off, called []sessions.Part) bool {
	for _, p := range called {
		switch {
		case o.Kind == "server":
			if p.Server == o.Name {
				return true
			}
		case string(p.Kind) == o.Kind && p.Name == o.Name:
			return true
		}
	}
	return false
}
