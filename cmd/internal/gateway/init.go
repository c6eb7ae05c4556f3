package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-pruner/cmd/internal/clientconfig"
)

// Takeover is a client's configuration whose servers go behind a gateway.
type Takeover struct {
	Client  string // claude, gemini or cursor
	File    string // the client's configuration
	Config  string // the gateway's, which gets the servers
	Program string // this program
}

// entryName is the gateway's entry in the client's configuration.
const entryName = "gateway"

// Clients are those whose configuration can be taken over.
var Clients = []string{"claude", "gemini", "cursor"}

// TakeoverOf says which files a client's takeover concerns.
func TakeoverOf(client, program string, lookup func(string) (string, bool)) (Takeover, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Takeover{}, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return Takeover{}, err
	}
	t := Takeover{Client: client, Program: program, Config: filepath.Join(config, "mcp-pruner", "gateway-"+client+".json")}
	switch client {
	case "claude":
		t.File = filepath.Join(home, ".claude.json")
		if dir, _ := lookup("CLAUDE_CONFIG_DIR"); dir != "" {
			t.File = filepath.Join(dir, ".claude.json")
		}
	case "gemini":
		t.File = filepath.Join(home, ".gemini", "settings.json")
	case "cursor":
		t.File = filepath.Join(home, ".cursor", "mcp.json")
	default:
		return Takeover{}, fmt.Errorf("unknown client %q: want claude, gemini or cursor; for others put the servers in a file by hand (docs/GATEWAY.md)", client)
	}
	return t, nil
}

// kept is the gateway's configuration with the entries as the client had them.
type kept struct {
	Servers  map[string]any `json:"mcpServers"`
	Original map[string]any `json:"original"`
}

// Install moves the servers behind the gateway and returns their names.
func (t Takeover) Install() ([]string, error) {
	text, err := (clientconfig.File{Path: t.File}).Read()
	if err != nil {
		return nil, err
	}
	moved, k, err := t.servers(text)
	if err != nil {
		return nil, err
	}
	if len(moved) == 0 {
		return nil, nil
	}
	raw, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(t.Config), 0o700); err != nil {
		return nil, err
	}
	if err := replaceFile(t.Config, append(raw, '\n')); err != nil { // before the client loses them
		return nil, err
	}
	_, err = clientconfig.File{Path: t.File}.Install(t.install)
	return moved, err
}

// servers are the entries that a gateway can take over: not its own, and none whose
// transport it does not speak.
func (t Takeover) servers(text []byte) (moved []string, k kept, err error) {
	k = kept{Servers: map[string]any{}, Original: map[string]any{}}
	file, err := clientconfig.ParseJSON(text)
	if err != nil {
		return nil, k, err
	}
	entries, _ := file.Get("mcpServers").(map[string]any)
	for name, entry := range entries {
		fields, _ := entry.(map[string]any)
		converted := t.convert(fields)
		if converted == nil || t.own(fields) {
			continue
		}
		moved = append(moved, name)
		k.Servers[name], k.Original[name] = converted, entry
	}
	slices.Sort(moved)
	return moved, k, nil
}

// own says whether an entry is this program: the gateway, or the server itself.
func (t Takeover) own(fields map[string]any) bool {
	command, _ := fields["command"].(string)
	return strings.TrimSuffix(filepath.Base(command), ".exe") == "mcp-pruner" || command == t.Program
}

// convert is an entry as the gateway reads it; nil when it speaks another transport.
func (t Takeover) convert(fields map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range fields {
		out[key] = value
	}
	url, kind := fields["url"], fields["type"]
	switch {
	case fields["command"] != nil:
		return out
	case fields["httpUrl"] != nil: // Gemini CLI
		out["url"] = fields["httpUrl"]
		delete(out, "httpUrl")
		return out
	case url != nil && kind == "http", url != nil && t.Client == "cursor" && kind == nil:
		return out
	}
	return nil
}

func (t Takeover) install(text []byte) ([]byte, error) {
	moved, _, err := t.servers(text)
	if err != nil || len(moved) == 0 {
		return text, err
	}
	file, err := clientconfig.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	for _, name := range moved {
		file.Remove("mcpServers", name)
	}
	if file.Get("mcpServers", entryName) != nil {
		return nil, fmt.Errorf("mcpServers.%s is there and not ours; rename it first", entryName)
	}
	entry := map[string]any{"command": t.Program, "args": []any{"gateway", t.Config}}
	if err := file.Set(entry, "mcpServers", entryName); err != nil {
		return nil, err
	}
	return file.Bytes(), nil
}

// Uninstall puts the servers back and returns whether there was something to do.
func (t Takeover) Uninstall() (bool, error) {
	changed, err := clientconfig.File{Path: t.File}.Uninstall(t.install, t.restore)
	if err != nil || !changed {
		return changed, err
	}
	if err := os.Remove(t.Config); err != nil && !os.IsNotExist(err) {
		return true, err
	}
	return true, nil
}

// restore puts the entries back into a file that was changed since.
func (t Takeover) restore(text []byte) ([]byte, error) {
	file, err := clientconfig.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	fields, _ := file.Get("mcpServers", entryName).(map[string]any)
	if fields == nil || !t.own(fields) {
		return text, nil
	}
	raw, err := os.ReadFile(t.Config)
	if err != nil {
		return nil, fmt.Errorf("the servers that were taken over cannot be read: %w", err)
	}
	var k kept
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&k); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Config, err)
	}
	names := make([]string, 0, len(k.Original))
	for name := range k.Original {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if file.Get("mcpServers", name) != nil {
			continue // there is a new one of that name
		}
		if err := file.Set(k.Original[name], "mcpServers", name); err != nil {
			return nil, err
		}
	}
	file.Remove("mcpServers", entryName)
	return file.Bytes(), nil
}
