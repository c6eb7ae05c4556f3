package prefix

import (
	"context"
	"fmt"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Asked is a thing that is off and wanted.
type Asked struct {
	Client, Name, Why string
	Undo              string // the command that brings it back
}

func (a Asked) String() string {
	return fmt.Sprintf("%s is switched off, and %s; %q switches on again what is off", a.Name, a.Why, a.Undo)
}

// AskedAgain returns what is wanted again. Sessions since the change count.
func AskedAgain(ctx context.Context, lookup func(string) (string, bool)) (list []Asked) {
	state, err := files.StateDir(lookup)
	if err != nil {
		return nil
	}
	for _, n := range ChangeNotes(state) {
		client := agent.Named(n.Client)
		if client.Prefix == nil {
			continue
		}
		called := usedParts(ctx, UsageOptions{Client: client, Lookup: lookup, Folder: n.Folder, Now: time.Now(), Since: n.When})
		project := Project{Client: client, Folder: n.Folder, Lookup: lookup}
		for _, o := range n.Off {
			a := Asked{Client: n.Client, Name: o.Name, Undo: "mcp-pruner context " + n.Client + " --undo"}
			switch entry := project.Entry(o.Name); {
			case isWanted(o, called):
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

// isWanted reports whether a call was of the thing. Another tool that went with its switch counts as the thing, too.
func isWanted(o SwitchedOff, called []sessions.Part) bool {
	for _, p := range called {
		switch {
		case o.Kind == "server":
			if p.Server == o.Name {
				return true
			}
		case string(p.Kind) == o.Kind && sessions.SamePart(p, sessions.Part{Kind: p.Kind, Name: o.Name}):
			return true
		}
	}
	return false
}
