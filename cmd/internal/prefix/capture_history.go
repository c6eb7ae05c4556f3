package prefix

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/system"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// clientHistory lists the files in a client's folders of sessions before it was started.
type clientHistory struct {
	roots  []string
	before map[string]bool // paths
	prompt []byte          // only files of the recorded session have it
}

func watchHistory(o CaptureOptions, prompt string) (*clientHistory, error) {
	files, err := setup.Home{Lookup: system.Here(o.Env).Lookup}.Files(o.Client.Name)
	if err != nil {
		return nil, err
	}
	h := &clientHistory{before: map[string]bool{}, prompt: []byte(prompt)}
	for _, below := range o.Client.Prefix.History {
		root := filepath.Join(files.Dir, filepath.FromSlash(below))
		h.roots = append(h.roots, root)
		h.walk(root, func(path string, _ fs.DirEntry) { h.before[path] = true })
	}
	return h, nil
}

func (h *clientHistory) walk(root string, each func(path string, d fs.DirEntry)) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a folder that is not there, or not ours to read
		}
		each(path, d)
		return nil
	})
}

// clean removes the new files that have the prompt or the key that no other session has, and the new folders that are empty then. Files of sessions that run
// at the same time stay.
func (h *clientHistory) clean() error {
	var folders []string
	var failed error
	for _, root := range h.roots {
		h.walk(root, func(path string, d fs.DirEntry) {
			switch {
			case h.before[path]:
			case d.IsDir():
				folders = append(folders, path)
			case d.Type().IsRegular() && h.ours(path):
				failed = errors.Join(failed, os.Remove(path))
			}
		})
	}
	for i := len(folders) - 1; i >= 0; i-- { // the inner ones first
		_ = os.Remove(folders[i]) // fails if it is not empty
	}
	return failed
}

func (h *clientHistory) ours(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && (bytes.Contains(text, h.prompt) || bytes.Contains(text, []byte(agent.NoKey)))
}
