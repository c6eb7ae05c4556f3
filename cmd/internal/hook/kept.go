package hook

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Claude Code removes the output of a failed command before it runs a hook, and tells the hook the beginning and the end. So
// the shell of each command keeps a copy when it ends with an error: the hook for the beginning of a session writes that into
// the file of shell commands that Claude Code runs first. The command itself stays as it is, for the shell and for the rules.
const (
	leastKept = 8_000           // bytes of the shortest output that a client cuts
	keptFor   = 1 * time.Hour   // after which a copy that no hook took is removed
	keptName  = "failed-output" // folder of the copies, in the state directory
)

// prelude writes the line that keeps outputs of failed commands. Without it nothing is added to them.
func (s state) prelude(c *agent.Client) {
	path, _ := s.lookup(c.Hooks.Prelude)
	line := keepLine(c)
	if path == "" || line == "" || !filepath.IsAbs(path) {
		return
	}
	if text, err := os.ReadFile(path); err == nil && strings.Contains(string(text), line) {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteString(line)
	_ = f.Close()
}

// keepLine returns the shell command, or "" where it would not work. It prints nothing, not even if the program is gone, and
// does not change the exit status.
func keepLine(c *agent.Client) string {
	path, _, err := command.Self()
	if err != nil || !canKeep {
		return ""
	}
	start, ok := agent.POSIX.Start("linux", path)
	if !ok || start != path {
		return "" // quotes would need quotes
	}
	return "trap '[ $? -eq 0 ] || " + start + " hook " + c.Name + " --keep 2>/dev/null || :' EXIT\n"
}

// Keep copies the output of the command that has just failed, which is the standard output of this process. It prints
// nothing and never fails.
func Keep(c *agent.Client, lookup func(string) (string, bool), stdout io.Writer) {
	out, ok := stdout.(*os.File)
	if !ok || c.Hooks.Running == nil {
		return
	}
	info, err := out.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < leastKept || info.Size() > maxSpill {
		return
	}
	path := pathOf(out)
	session, ok := c.Hooks.Running(path)
	s, err := newState(lookup)
	if !ok || err != nil || !plainSession(session) || s.off("") {
		return
	}
	text, err := files.ReadPrivate(filepath.Dir(path), path, maxSpill)
	if err != nil {
		return
	}
	folder := s.keptFolder()
	if os.MkdirAll(folder, 0o700) != nil {
		return
	}
	sweep(folder, s.now(), keptFor)
	name := filepath.Join(folder, session+"_"+filepath.Base(path))
	if os.WriteFile(name+".new", text, 0o600) == nil {
		_ = os.Rename(name+".new", name)
	}
}

func (s state) keptFolder() string { return filepath.Join(s.dir, keptName) }

// sweep removes the files of a folder that are older than some time.
func sweep(folder string, now time.Time, after time.Duration) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > after {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}

// takeKept returns the output of a session's failed command that begins with a text, and removes the copy. It returns "" if
// there is none.
func (s state) takeKept(session, head string) string {
	if !plainSession(session) {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(s.keptFolder(), session+"_*.output")) // the pattern is correct
	for _, path := range found {
		raw, err := files.ReadPrivate(s.keptFolder(), path, maxSpill)
		if err != nil {
			continue
		}
		text := strings.ToValidUTF8(string(raw), "\uFFFD")
		if existing.Begins(text, head) {
			_ = os.Remove(path) // sweep removes it otherwise
			return text
		}
	}
	return ""
}
