package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// cacheFile returns the file that keeps what a server offers between starts, or "" without a cache directory. A server may
// offer other tools to a client with other capabilities. The name is a hash of the command and the names of the variables;
// their values, which may be secret, are not part of it.
func cacheFile(c Config, capabilities json.RawMessage) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	key := []any{c.Name, c.Command, c.Args, c.URL}
	if capabilities != nil {
		key = append(key, string(capabilities))
	}
	raw, err := json.Marshal(key)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return filepath.Join(dir, "mcp-pruner", "tools", hex.EncodeToString(sum[:12])+".json")
}

// store saves a server's offer. Errors are ignored: the next start then asks the server.
func store(c Config, capabilities json.RawMessage, raw []byte) {
	if path := cacheFile(c, capabilities); path != "" {
		_ = files.Atomic{Path: path, Fast: true}.Write(raw)
	}
}

// recall loads the offer that was saved last time.
func recall(c Config, capabilities json.RawMessage) (o Offer, known bool) {
	raw, err := os.ReadFile(cacheFile(c, capabilities))
	var said remembered
	if err != nil || json.Unmarshal(raw, &said) != nil {
		return Offer{}, false
	}
	o, err = said.offer(c.Name)
	o.stored = true
	for i := range o.Tools {
		o.Tools[i].Stored = true
	}
	return o, err == nil
}
