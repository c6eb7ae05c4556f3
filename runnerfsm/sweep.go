package runnerfsm

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// secretOwnerFile names the process that a directory of secrets belongs to: its id and its start.
const secretOwnerFile = "owner"

// own writes the owner of a new directory of secrets.
func (s *SecretFolder) own() error {
	start, ok := process.Started(os.Getpid())
	if !ok {
		return nil // such a directory is never swept
	}
	return s.write(filepath.Join(s.Dir, secretOwnerFile), fmt.Sprintf("%d %s\n", os.Getpid(), start))
}

// sweepSecrets removes the directories that runs of this user left in a folder because they were killed together with
// their keepers. It removes real directories only, and only if their owner is gone.
func sweepSecrets(folder string) {
	left, err := filepath.Glob(filepath.Join(folder, keeper.SecretsPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() && ownedByUser(info) && secretOwnerGone(dir) {
			_ = os.RemoveAll(dir) // the next run tries again
		}
	}
}

// secretOwnerGone reports whether the directory names its owner, and that process is no more.
func secretOwnerGone(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, secretOwnerFile))
	if err != nil {
		return false
	}
	id, start, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 || start == "" {
		return false
	}
	now, _ := process.Started(pid)
	return now != start
}
