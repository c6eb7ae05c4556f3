package runnerfsm

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
)

// secrets is a folder of one run that only its user can read: what the run's server
// and its client have to know, and nobody else on this machine.
type secrets struct {
	dir   string
	token string // every request to the server carries it
}

const (
	tokenFileVariable = "MCP_PRUNER_TOKEN_FILE" // names the file that the server reads the token from
	tokenVariable     = "MCP_PRUNER_RUN_TOKEN"  // holds it for Codex
)

func newSecrets() (*secrets, error) {
	dir, err := os.MkdirTemp("", "mcp-pruner-run-") // for its owner alone
	if err != nil {
		return nil, err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	s := &secrets{dir: dir, token: hex.EncodeToString(b[:])}
	return s, s.write(s.tokenFile(), s.token+"\n")
}

func (s *secrets) tokenFile() string { return filepath.Join(s.dir, "token") }

// config writes the record of servers for a client that takes it as a file.
func (s *secrets) config(servers Servers) (path string, err error) {
	path = filepath.Join(s.dir, "mcp.json")
	return path, s.write(path, servers.JSON()+"\n")
}

func (s *secrets) write(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// remove takes the folder away. What still needs it has read it by then.
func (s *secrets) remove() {
	if s != nil {
		_ = os.RemoveAll(s.dir)
	}
}
