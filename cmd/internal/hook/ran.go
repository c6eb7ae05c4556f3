package hook

import (
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// ranFile is an empty file whose time is that of the latest message of a client that concerns a hook. Small results leave no other trace.
func ranFile(dir, client string) string { return filepath.Join(dir, "hook-ran-"+client) }

// ran notes that a client runs its hook. Errors are ignored: the note must never cost a result.
func (s state) ran(msg message) {
	if msg.occasion == agent.Unconcerned && msg.call.Tool == "" { // such as a call from code
		return
	}
	path, now := ranFile(s.dir, msg.client.Name), s.now()
	if os.Chtimes(path, now, now) == nil || os.MkdirAll(s.dir, 0o700) != nil {
		return
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close()
	}
}

// LastRan returns when a client ran its hook last, by a state directory; zero if it never did.
func LastRan(dir, client string) (at time.Time) {
	if info, err := os.Lstat(ranFile(dir, client)); err == nil {
		at = info.ModTime()
	}
	return at
}
