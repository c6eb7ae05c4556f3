package runnerfsm

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// secrets is a directory for one run that only its user can read. It holds the secrets that
// the run's server and client need.
type secrets struct {
	dir   string
	token string // sent with every request to the server
}

const (
	tokenFileVariable = "MCP_PRUNER_TOKEN_FILE" // path of the file from which the server reads the token
	tokenVariable     = "MCP_PRUNER_RUN_TOKEN"  // holds it for Codex
)

func newSecrets() (*secrets, error) {
	sweepSecrets(os.TempDir())
	dir, err := os.MkdirTemp("", keeper.SecretsPrefix) // created for its owner only
	if err != nil {
		return nil, err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	s := &secrets{dir: dir, token: hex.EncodeToString(b[:])}
	return s, errors.Join(s.own(), s.write(s.tokenFile(), s.token+"\n"))
}

func (s *secrets) tokenFile() string { return filepath.Join(s.dir, "token") }

// config writes the record of servers to a file, for a client that takes one.
func (s *secrets) config(servers Servers) (path string, err error) {
	path = filepath.Join(s.dir, "mcp.json")
	return path, s.write(path, servers.JSON()+"\n")
}

func (s *secrets) write(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// remove deletes the directory. Every reader has read its file by then.
func (s *secrets) remove() {
	if s != nil {
		_ = os.RemoveAll(s.dir)
	}
}
