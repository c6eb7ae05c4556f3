package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"mcp-pruner/tools/upstream"
)

// cacheFile is where the tools of a server are kept between starts; "" when there
// is no folder for it. The name holds no secret: it is a hash of the command and
// the names of the variables, not of their values.
func cacheFile(c ServerConfig) string {
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

// remembered is what is kept of a server between starts.
type remembered struct {
	Instructions string            `json:"instructions,omitempty"`
	Pages        []json.RawMessage `json:"pages"` // results of tools/list
}

// store keeps what a server offers. That it cannot is no error: the next start asks
// the server.
func store(c ServerConfig, raw []byte) {
	path := cacheFile(c)
	if path == "" || os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	_ = replaceFile(path, raw)
}

// recall is the offer that was kept last time.
func recall(c ServerConfig) (o offer, known bool) {
	raw, err := os.ReadFile(cacheFile(c))
	var k remembered
	if err != nil || json.Unmarshal(raw, &k) != nil {
		return offer{}, false
	}
	list, _, err := upstream.ParseList(c.Name, k.Pages...)
	return offer{list, k.Instructions, raw}, err == nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}
