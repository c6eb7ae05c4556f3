package hook

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// BackCommand returns the command that recovers a text, without the id, in the shell of a client's agent: the program's name if
// that shell finds it and no rule of the user names a path, else a path that an upgrade does not change.
func BackCommand(client string, lookup func(string) (string, bool)) string {
	if rule := allowed(client, lookup); rule != "" {
		return rule + backVerb
	}
	path, onPath, err := command.Self()
	c := agent.Named(client)
	if err != nil || onPath && (!c.LoginShell || runtime.GOOS == "windows" || command.InLoginShell()) {
		return existing.DefaultBack
	}
	if link := backLink(path, lookup); link != "" && pointLink(link, path) == nil {
		path = link
	} // else its own path, as on Windows, where making a link is a privilege
	start, ok := c.ToolShell(runtime.GOOS).Start(runtime.GOOS, path)
	if !ok {
		return existing.DefaultBack
	}
	return start + backVerb
}

// backVerb is the part of the command after the program.
const backVerb = " recover"

// backLink returns the link in the state folder by which a program is started whose own path does not stay after an upgrade, or
// "". Each version that runs here makes it its own.
func backLink(path string, lookup func(string) (string, bool)) string {
	state, err := files.StateDir(lookup)
	if err != nil || command.Lasts(path, runtime.GOOS) {
		return ""
	}
	return filepath.Join(state, "bin", command.Program)
}

// LastingPath returns a path of this program that stays after an upgrade, for a rule. It may be a link that [MakeLink] makes.
func LastingPath(lookup func(string) (string, bool)) (string, error) {
	path, _, err := command.Self()
	if err != nil || command.Lasts(path, runtime.GOOS) {
		return path, err
	}
	if link := backLink(path, lookup); link != "" {
		return link, nil
	}
	return "", errors.New("there is no folder for a link that stays valid after an upgrade")
}

// MakeLink makes the link in the state folder, if this program is started by it.
func MakeLink(lookup func(string) (string, bool)) error {
	path, _, err := command.Self()
	if err != nil {
		return err
	}
	if link := backLink(path, lookup); link != "" {
		return pointLink(link, path)
	}
	return nil
}

// pointLink makes a link to a path, or changes it at once.
func pointLink(link, path string) error {
	if now, err := os.Readlink(link); err == nil && now == path {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(link), ".new-*")
	if err != nil {
		return err
	}
	made := filepath.Join(temp, filepath.Base(link))
	if err = os.Symlink(path, made); err == nil {
		err = os.Rename(made, link)
	}
	return errors.Join(err, os.RemoveAll(temp))
}

// readable returns the content of a small file, or nil.
func readable(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// maxSettings is the size in bytes of the largest file that is searched for a rule.
const maxSettings = 1 << 20
