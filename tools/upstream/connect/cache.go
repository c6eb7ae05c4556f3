package connect

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/tools/files/replace"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// cacheFile returns the file that keeps a server's tools between starts, or "" without a cache directory.
// The name is a hash of the command and the names of the variables; their values, which may be secret, are
// not part of it.
func cacheFile(c Config) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	key, err := json.Marshal([]any{c.Name, c.Command, c.Args, c.URL})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(key)
	return filepath.Join(dir, "mcp-pruner", "tools", hex.EncodeToString(sum[:12])+".json")
}

// remembered is the data kept about a server between starts.
type remembered struct {
	Instructions string            `json:"instructions,omitempty"`
	Pages        []json.RawMessage `json:"pages"` // results of tools/list
}

// Offer is the tools and instructions of a server.
type Offer struct {
	Tools        []upstream.Definition
	Instructions string
	raw          []byte // the JSON that both were read from
}

// store saves a server's offer. Errors are ignored: the next start then asks the server.
func store(c Config, raw []byte) {
	path := cacheFile(c)
	if path != "" {
		_ = replace.File{Path: path, Fast: true}.Write(raw)
	}
}

// recall loads the offer that was saved last time.
func recall(c Config) (o Offer, known bool) {
	raw, err := os.ReadFile(cacheFile(c))
	var k remembered
	if err != nil || json.Unmarshal(raw, &k) != nil {
		return Offer{}, false
	}
	list, _, err := upstream.ParseList(c.Name, k.Pages...)
	return Offer{list, k.Instructions, raw}, err == nil
}
