package runnerfsm

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/keeper"
)

// SecretFolder is a directory for one run that only its user can read. It holds the secrets that
// the run's server and client need.
type SecretFolder struct {
	Dir   string
	Token string // sent with every request to the server
}

// tokenFileVariable names the file from which the server reads the token.
const tokenFileVariable = "MCP_PRUNER_TOKEN_FILE"

// NewSecretFolder makes the directory, and removes those that killed runs left.
func NewSecretFolder() (*SecretFolder, error) {
	sweepSecrets(os.TempDir())
	dir, err := os.MkdirTemp("", keeper.SecretsPrefix) // created for its owner only
	if err != nil {
		return nil, err
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	s := &SecretFolder{Dir: dir, Token: hex.EncodeToString(b[:])}
	return s, errors.Join(s.own(), s.write(s.TokenFile(), s.Token+"\n"))
}

// TokenFile returns the path of the file with the token.
func (s *SecretFolder) TokenFile() string { return filepath.Join(s.Dir, "token") }

// Config writes the record of servers, which is JSON, to a file for a client that takes one.
func (s *SecretFolder) Config(servers string) (path string, err error) {
	path = filepath.Join(s.Dir, "mcp.json")
	return path, s.write(path, servers+"\n")
}

func (s *SecretFolder) write(path, text string) error { return os.WriteFile(path, []byte(text), 0o600) }

// Remove deletes the directory. Every reader has read its file by then.
func (s *SecretFolder) Remove() {
	if s != nil {
		_ = os.RemoveAll(s.Dir)
	}
}
