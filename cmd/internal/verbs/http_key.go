package verbs

import "github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/secret"

// sessionKey returns a function for the key that authenticates the ids of sessions. The key is the user's, and the same after a restart.
// The function returns nil if it cannot be kept on this machine.
func sessionKey(lookup func(string) (string, bool)) func() []byte {
	return func() []byte {
		key, err := secret.LoadProof(lookup)
		if err != nil {
			return nil
		}
		return []byte(key.Sign("names sessions", "", ""))
	}
}
