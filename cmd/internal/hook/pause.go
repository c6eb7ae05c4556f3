package hook

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// pausedFor is the time after which the mark of a paused session is removed.
const pausedFor = 30 * 24 * time.Hour

// PauseCommand returns the verb pause.
func PauseCommand(p command.Process) *cobra.Command {
	var session string
	var end, show bool
	c := &cobra.Command{
		Use:   "pause",
		Short: "Turn the hooks off for one session, or on again",
		Long: `Turns the hooks off for the session in which it runs, which the client names in the
environment of the commands that it runs, or for another one. Its next results stay
whole. --end turns them on again. The model is not told; --show says how it is.`,
		Args: command.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if session == "" {
				session = sessionOf(p.Lookup)
			}
			if !plainSession(session) {
				return command.Usagef("no client names its session here: give its id with --session, or start the client with MCP_PRUNER_HOOK=off")
			}
			dir, err := files.StateDir(p.Lookup)
			if err != nil {
				return err
			}
			if show {
				return showPaused(p.Stdout, state{dir: dir, lookup: p.Lookup}, session)
			}
			if err := setPaused(dir, session, end); err != nil {
				return err
			}
			what := "off"
			if end {
				what = "on"
			}
			_, err = fmt.Fprintf(p.Stdout, "hooks are %s for session %s\n", what, session)
			return err
		},
	}
	c.Flags().StringVar(&session, "session", "", "id of the session (default: the one in which this runs)")
	c.Flags().BoolVar(&show, "show", false, "say whether the hooks are off, and change nothing")
	c.Flags().BoolVar(&end, "end", false, "turn the hooks on again")
	c.MarkFlagsMutuallyExclusive("end", "show")
	return c
}

// sessionOf returns the id of the session that the environment names, or "".
func sessionOf(lookup func(string) (string, bool)) string {
	for _, c := range agent.Clients {
		if v, _ := lookup(c.SessionVariable); c.SessionVariable != "" && v != "" {
			return v
		}
	}
	return ""
}

// showPaused says whether the hooks are off for a session.
func showPaused(w io.Writer, s state, session string) error {
	what := "on"
	if folder, err := os.Getwd(); s.off(session) || err == nil && offIn(s.project(folder), settings.Hook) {
		what = "off"
	}
	_, err := fmt.Fprintf(w, "hooks are %s for session %s\n", what, session)
	return err
}

func setPaused(dir, session string, end bool) error {
	path := pauseFile(dir, session)
	if end {
		if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	sweep(filepath.Dir(path), time.Now(), pausedFor)
	return os.WriteFile(path, nil, 0o600)
}
