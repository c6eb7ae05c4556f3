package hook

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
)

// Unpruned is the word that keeps the result of one command whole: the agent or the user writes it into the command's
// description, or into a comment of the command.
const Unpruned = "unpruned"

// ProjectFile is the file of a project in which a line turns the hooks off for it.
const ProjectFile = ".mcp-pruner"

// off reports whether the hooks are turned off for a session: by the environment, by its project, or by `mcp-pruner pause`.
func (s state) off(session string) bool {
	v, _ := s.lookup(settings.Hook)
	return isOff(v) || session != "" && paused(s.dir, session)
}

func isOff(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "off", "0", "false", "no":
		return true
	}
	return false
}

// offIn reports whether a project turns something off, by a line of its file with the name of the setting.
func offIn(project, setting string) bool {
	if project == "" {
		return false
	}
	f, err := os.Open(filepath.Join(project, ProjectFile))
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	for lines := bufio.NewScanner(io.LimitReader(f, 64<<10)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), "=")
		if strings.TrimSpace(name) == setting && isOff(value) {
			return true
		}
	}
	return false
}

// wantsWhole reports whether a command says that its result has to stay whole.
func wantsWhole(args map[string]any) bool {
	for _, name := range []string{"description", "command", "cmd"} {
		text, _ := args[name].(string)
		if name != "description" { // only a comment of it
			_, text, _ = strings.Cut(text, "#")
		}
		if slices.Contains(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' }), Unpruned) {
			return true
		}
	}
	return false
}

// paused reports whether the hooks are off for one session.
func paused(dir, session string) bool {
	if !plainSession(session) {
		return false
	}
	_, err := os.Lstat(pauseFile(dir, session))
	return err == nil
}

func pauseFile(dir, session string) string { return filepath.Join(dir, "paused", session) }
