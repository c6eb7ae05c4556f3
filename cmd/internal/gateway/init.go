package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-pruner/cmd/internal/clientconfig"
)

// Takeover moves the servers of a client's configuration into the gateway's.
type Takeover struct {
	Client  string // one of Clients
	File    string // path of the client's configuration
	Config  string // path of the gateway's configuration, which receives the servers
	Program string // path of this program

	Rules []string // further files with the client's rules of what its tools may do
}

// entryName is the name of the gateway's entry in the client's configuration.
const entryName = "gateway"

// Clients are the clients whose configuration can be taken over.
var Clients = []string{"claude", "codex", "gemini", "opencode", "cursor"}

// TakeoverOf returns the files that a client's takeover concerns.
func TakeoverOf(client, program string, lookup func(string) (string, bool)) (Takeover, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return Takeover{}, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return Takeover{}, err
	}
	dir := func(variable string, otherwise ...string) string {
		if set, _ := lookup(variable); set != "" {
			return set
		}
		return filepath.Join(append([]string{home}, otherwise...)...)
	}
	t := Takeover{Client: client, Program: program, Config: filepath.Join(config, "mcp-pruner", "gateway-"+client+".json")}
	switch client {
	case "claude":
		t.File = filepath.Join(dir("CLAUDE_CONFIG_DIR"), ".claude.json")
		for _, name := range []string{"settings.json", "settings.local.json"} {
			t.Rules = append(t.Rules, filepath.Join(dir("CLAUDE_CONFIG_DIR", ".claude"), name))
		}
	case "codex":
		t.File = filepath.Join(dir("CODEX_HOME", ".codex"), "config.toml")
	case "gemini":
		t.File = filepath.Join(dir("GEMINI_CLI_HOME"), ".gemini", "settings.json")
	case "opencode":
		t.File = clientconfig.OpencodeFile(filepath.Join(dir("XDG_CONFIG_HOME", ".config"), "opencode"))
	case "cursor":
		t.File = filepath.Join(home, ".cursor", "mcp.json")
		t.Rules = []string{filepath.Join(home, ".cursor", "cli-config.json")}
	default:
		return Takeover{}, fmt.Errorf("unknown client %q: want %s; for others put the servers in a file by hand (docs/GATEWAY.md)",
			client, strings.Join(Clients, ", "))
	}
	return t, nil
}

// kept is the gateway's configuration, with the data needed to restore the client's.
type kept struct {
	Servers  map[string]any `json:"mcpServers"`
	Original map[string]any `json:"original,omitempty"` // for JSON: the client's entries
	Text     string         `json:"text,omitempty"`     // the text of the entries as it was in the file

	stay map[string]string // servers that stay with the client, with the reasons
}

// add merges servers that were moved later.
func (k *kept) add(more kept) {
	maps.Copy(k.Servers, more.Servers)
	maps.Copy(k.Original, more.Original)
	k.Text += more.Text
}

// Install moves the servers into the gateway's configuration and returns their names, and the reasons for
// those that stay with the client. Servers that were moved earlier stay behind the gateway.
func (t Takeover) Install() (names []string, stay map[string]string, err error) {
	text, err := (clientconfig.File{Path: t.File}).Read()
	if err != nil {
		return nil, nil, err
	}
	if _, err := t.install(text); err != nil {
		return nil, nil, err
	}
	moved, err := t.moves(text)
	if err != nil || len(moved.Servers) == 0 {
		return nil, moved.stay, err
	}
	if err := t.keep(moved); err != nil { // first, so that no server is lost if the next step fails
		return nil, nil, err
	}
	_, err = clientconfig.File{Path: t.File}.Install(t.install)
	return slices.Sorted(maps.Keys(moved.Servers)), moved.stay, err
}

// keep adds servers to the gateway's configuration.
func (t Takeover) keep(moved kept) error {
	all, err := t.read()
	if err != nil {
		return err
	}
	all.add(moved)
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.Config), 0o700); err != nil {
		return err
	}
	return replaceFile(t.Config, append(raw, '\n'))
}

// read returns the servers moved so far.
func (t Takeover) read() (kept, error) {
	k := kept{Servers: map[string]any{}, Original: map[string]any{}}
	raw, err := os.ReadFile(t.Config)
	if os.IsNotExist(err) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&k); err != nil {
		return k, fmt.Errorf("%s: %w", t.Config, err)
	}
	return k, nil
}

// own reports whether a command starts this program, as the gateway or as the server itself.
func (t Takeover) own(command any) bool {
	if list, ok := command.([]any); ok && len(list) > 0 { // opencode's form
		command = list[0]
	}
	name, _ := command.(string)
	return strings.TrimSuffix(filepath.Base(name), ".exe") == "mcp-pruner" || name == t.Program
}

func (t Takeover) moves(text []byte) (kept, error) {
	if t.Client == "codex" {
		moved, _, err := t.cutTOML(text)
		return moved, err
	}
	return t.movesJSON(text)
}

func (t Takeover) install(text []byte) ([]byte, error) {
	if t.Client == "codex" {
		return t.installTOML(text)
	}
	return t.installJSON(text)
}

// Uninstall moves the servers back and reports whether there was anything to do.
func (t Takeover) Uninstall() (bool, error) {
	restore := t.restoreJSON
	if t.Client == "codex" {
		restore = t.restoreTOML
	}
	changed, err := clientconfig.File{Path: t.File}.Uninstall(t.again, restore)
	if err != nil || !changed {
		return changed, err
	}
	if err := os.Remove(t.Config); err != nil && !os.IsNotExist(err) {
		return true, err
	}
	return true, nil
}

var errMovedLater = errors.New("more servers went behind the gateway later")

// again returns the file that install made of the original one. It fails with errMovedLater if servers were
// moved later, because the original file does not contain those.
func (t Takeover) again(before []byte) ([]byte, error) {
	moved, err := t.moves(before)
	if err != nil {
		return nil, err
	}
	all, err := t.read()
	if err != nil {
		return nil, err
	}
	if len(all.Servers) != len(moved.Servers) {
		return nil, errMovedLater
	}
	return t.install(before)
}
