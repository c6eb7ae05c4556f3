package verbs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
)

// TestDoctorBeginsWithWhatIsInstalled proves that the first lines say which clients have hooks and when they last worked, that
// notes come last, and that settings are listed only with --verbose.
func TestDoctorBeginsWithWhatIsInstalled(t *testing.T) {
	home := t.TempDir()
	run := func(args ...string) string {
		var out, errs bytes.Buffer
		Run(command.Process{Args: args, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, Stdout: &out, Stderr: &errs})
		return out.String()
	}
	require.True(t, strings.HasPrefix(run("doctor"), "No client has hooks: \"mcp-pruner init\" sets them up.\n"), "nothing is installed")
	run("init", "claude")
	require.True(t, strings.HasPrefix(run("doctor"), "Claude Code: hooks on, nothing cut yet\n"))
	hook.AddNote(filepath.Join(home, ".local", "state", "mcp-pruner"), hook.Note{Time: time.Now().Add(-3*time.Minute - time.Second), Client: "claude", ID: "prn_00000001"})
	out := run("doctor")
	require.True(t, strings.HasPrefix(out, "Claude Code: hooks on, last cut 3 minutes ago\n"), out)
	require.NotContains(t, out, "setting ")
	require.Contains(t, run("doctor", "--verbose"), "\nsetting ")
	marks := ""
	for line := range strings.Lines(out) {
		if word, _, _ := strings.Cut(line, " "); word == "ok" || word == "BAD" || word == "note" {
			marks += word[:1]
		}
	}
	require.Regexp(t, `^[oB]+n*$`, marks)
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour: "less than a minute ago", 59 * time.Second: "less than a minute ago", time.Minute: "1 minute ago",
		119 * time.Minute: "1 hour ago", 49 * time.Hour: "2 days ago",
	} {
		require.Equal(t, want, ago(d), d)
	}
}
