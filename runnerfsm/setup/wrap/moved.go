package wrap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// moved is a file into which a version before this one moved a client's servers.
type moved struct {
	Servers  map[string]map[string]any `json:"mcpServers"` // in the gateway's form
	Original map[string]any            `json:"original"`   // of JSON: the entries
	Text     string                    `json:"text"`       // their text as it was in the file
}

// movedEntry is the name of the entry that stood in their place.
const movedEntry = "gateway"

// Lines around that entry in TOML.
const (
	movedBegin = "# mcp-pruner gateway init: begin\n"
	movedEnd   = "# mcp-pruner gateway init: end\n"
)

// restore puts the servers back that an earlier version moved. Those that have an entry in the client's file again keep it.
func (l List) restore() (names []string, note string, err error) {
	text, err := l.File.Read()
	if err != nil {
		return nil, "", err
	}
	entries, err := l.entries(text)
	if err != nil {
		return nil, "", err
	}
	command := commandOf(entries[movedEntry])
	if len(command) != 3 || command[1] != "gateway" {
		return nil, "", nil
	}
	path := command[2]
	m, there, err := l.readMoved(path)
	if err != nil {
		return nil, "", fmt.Errorf("the servers cannot be put back, so nothing was changed: %w; %s is the client's file before it was changed", err, l.File.Backup())
	}
	if m == nil {
		return nil, "", nil // written by hand
	}
	back := func(now []byte) ([]byte, error) {
		after, err := l.withMoved(now, m, there)
		if err != nil {
			return nil, err
		}
		return after, l.complete(after, there)
	}
	never := func([]byte) ([]byte, error) { return nil, errors.New("it is not known what the file became") }
	if _, err := l.File.Uninstall(never, back); err != nil {
		return nil, "", err
	}
	names = slices.Sorted(maps.Keys(there))
	if slices.ContainsFunc(slices.Collect(maps.Keys(m.Servers)), func(name string) bool { return edited(m.Servers[name], there[name]) }) {
		return names, path + " stays, because it was edited; nothing uses it any more", nil
	}
	return names, "", os.Remove(path)
}

// edited reports whether an entry of the gateway's says something that the client's does not.
func edited(own, client map[string]any) bool {
	command := commandOf(client)
	if !slices.Equal(commandOf(own), command) {
		return true
	}
	env := envOf(client)
	for name, value := range envOf(own) {
		if value != env[name] && value != "${"+name+":-}" { // Codex hands that one on
			return true
		}
	}
	return false
}

// readMoved returns the file and the entries in it; nil: an earlier version did not make it.
func (l List) readMoved(path string) (*moved, map[string]map[string]any, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	var m moved
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(m.Original) == 0 && m.Text == "" {
		return nil, nil, nil
	}
	there := map[string]map[string]any{}
	if l.File.Syntax.Format == agent.TOML {
		there, err = l.entries([]byte(m.Text))
		return &m, there, err
	}
	for name, e := range m.Original {
		there[name], _ = e.(map[string]any)
	}
	return &m, there, nil
}

// withMoved returns a client's file with the servers in the place of the entry. Where the backup says the same, it is the backup.
func (l List) withMoved(now []byte, m *moved, there map[string]map[string]any) ([]byte, error) {
	after, err := l.put(now, m, there)
	if err != nil {
		return nil, err
	}
	before, _ := os.ReadFile(l.File.Backup())
	want, err := l.File.Syntax.Decode(after)
	if got, failed := l.File.Syntax.Decode(before); err == nil && failed == nil && reflect.DeepEqual(got, want) {
		return before, nil
	}
	return after, err
}

func (l List) put(now []byte, m *moved, there map[string]map[string]any) ([]byte, error) {
	if l.File.Syntax.Format == agent.TOML {
		before, rest, ok := strings.Cut(string(now), movedBegin)
		_, after, ended := strings.Cut(rest, movedEnd)
		if !ok || !ended {
			return nil, fmt.Errorf("the lines %q and %q are not there any more", strings.TrimSpace(movedBegin), strings.TrimSpace(movedEnd))
		}
		return []byte(before + strings.TrimRight(m.Text, "\n") + "\n" + after), nil
	}
	file, err := setup.ParseJSON(now)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if file.Get(l.Client.Servers.Member, name) != nil {
			continue
		}
		if err := file.Set(m.Original[name], l.Client.Servers.Member, name); err != nil {
			return nil, err
		}
	}
	file.Remove(l.Client.Servers.Member, movedEntry)
	if text, err := setup.ParseJSON([]byte(`{"servers": ` + m.Text + "}")); err == nil && reflect.DeepEqual(text.Get("servers"), file.Get(l.Client.Servers.Member)) {
		err = file.SetText(m.Text, l.Client.Servers.Member) // as it was written
		return file.Bytes(), err
	}
	return file.Bytes(), nil
}

// complete returns an error if a file lacks a server.
func (l List) complete(text []byte, want map[string]map[string]any) error {
	got, err := l.entries(text)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == nil {
			err = errors.Join(err, fmt.Errorf("%s would be lost", name))
		}
	}
	return err
}
