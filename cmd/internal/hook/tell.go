package hook

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook/notes"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// tell answers at the end of a turn with what the hooks have done in the session, if that is something else than it was told before.
func (s state) tell(c *agent.Client, call agent.Call) []byte {
	if v, _ := s.lookup(settings.Tell); isOff(v) || c.Hooks.Tell == nil || !plainSession(call.Session) {
		return nil
	}
	line := notes.SumOf(s.dir, call.Session).String()
	if line == "" || offIn(s.project(call.Folder), settings.Tell) {
		return nil
	}
	folder := filepath.Join(s.dir, "told")
	path := filepath.Join(folder, call.Session)
	if before, err := os.ReadFile(path); err == nil && string(before) == line {
		return nil
	}
	answer, err := json.Marshal(c.Hooks.Tell(line))
	if err != nil || os.MkdirAll(folder, 0o700) != nil {
		return nil
	}
	sweep(folder, s.now(), pausedFor)
	if os.WriteFile(path, []byte(line), 0o600) != nil {
		return nil // it would be told after every turn
	}
	return answer
}
