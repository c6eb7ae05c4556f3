package verbs

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

const (
	maxStatusInput    = 1 << 20                // bytes of a client's message
	statusFirstWithin = 500 * time.Millisecond // for the user's own command
)

func statusCommand(p command.Process) *cobra.Command {
	var first string
	c := &cobra.Command{
		Use:   "statusline",
		Short: "Print what was saved in a session (Claude Code's status line runs this)",
		Long: `Reads the session from the standard input, as Claude Code gives it to the command of its
status line, and prints how many tokens were cut in it, how many results were cleared and
fetched again, and the net at the end of the latest turn, as gain counts it. The user's own
command (--first) gets the same input, and its output comes first.`,
		Args: command.NoArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			input, err := io.ReadAll(io.LimitReader(p.Stdin, maxStatusInput))
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if first != "" {
				out.Write(runStatusFirst(c.Context(), p, first, input))
			}
			if line := statusLine(p, input); line != "" {
				if out.Len() > 0 && !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
					out.WriteByte('\n')
				}
				out.WriteString(line + "\n")
			}
			_, err = p.Stdout.Write(out.Bytes())
			return err
		},
	}
	c.Flags().StringVar(&first, "first", "", "a command of a shell whose output comes first")
	return c
}

// runStatusFirst returns the output of the user's own command, or what it has printed when its time is over.
func runStatusFirst(ctx context.Context, p command.Process, line string, input []byte) []byte {
	ctx, cancel := context.WithTimeout(ctx, statusFirstWithin)
	defer cancel()
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell = "bash" // of Git, with which Claude Code runs its commands there
	}
	cmd := exec.CommandContext(ctx, shell, flag, line)
	var out bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout = p.Env, bytes.NewReader(input), &out
	cmd.WaitDelay = time.Millisecond // a child of it may hold the pipe
	_ = cmd.Run()                    // a command that fails may have printed something
	return out.Bytes()
}

// statusLine returns our line for a session, or "" if nothing was done in it.
func statusLine(p command.Process, input []byte) string {
	var session struct {
		ID     string          `json:"session_id"`
		Limits json.RawMessage `json:"rate_limits"` // Claude Code gives it to subscribers alone
	}
	dir, err := files.StateDir(p.Lookup)
	if err != nil || json.Unmarshal(input, &session) != nil || session.ID == "" {
		return ""
	}
	saved := hook.ReadTold(dir, session.ID).Saved
	if saved != nil && session.Limits != nil {
		saved.Dollars = 0 // a subscription is not billed by the token
	}
	return hook.SumOf(hook.NotesOf(dir, session.ID)).Line(saved)
}
