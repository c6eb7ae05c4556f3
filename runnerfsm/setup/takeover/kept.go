package takeover

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup/takeover/restriction"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// kept is the gateway's configuration, with the data needed to restore the client's.
type kept struct {
	From     string         `json:"movedFrom,omitempty"` // path of the client's file; "": made by an earlier version
	Servers  map[string]any `json:"mcpServers"`
	Original map[string]any `json:"original,omitempty"` // for JSON: the client's entries
	Text     string         `json:"text,omitempty"`     // the text of the entries as it was in the file

	path  string                  // of this file
	stay  map[string]string       // servers that stay with the client, with the reasons
	stale []restriction.Allowance // rules of the client's that allow tools of these servers under their old names
}

// add merges servers that were moved later. A server of the same name replaces the one that was moved before.
func (k *kept) add(more kept) error {
	if k.Original == nil { // Codex
		_, rest, err := cutTOML([]byte(k.Text), func(name string) bool { return more.Servers[name] != nil })
		if err != nil {
			return err
		}
		k.Text = string(rest)
	}
	maps.Copy(k.Servers, more.Servers)
	maps.Copy(k.Original, more.Original)
	k.Text += more.Text
	return nil
}

var errNotMoved = errors.New("it was not made by gateway init")

// receiver returns the gateway's file that receives the servers of a client's configuration: the one that the
// configuration names already, or a new one. No other client's file is written into.
func (t Takeover) receiver(text []byte) (kept, error) {
	named, there, err := t.named(text)
	if err != nil {
		return kept{}, err
	}
	if there {
		k, err := t.read(named)
		switch {
		case err != nil:
			return kept{}, fmt.Errorf("its entry %q names the servers moved so far, which cannot be read: %w; "+
				"restore that file, or remove the entry, first", entryName, err)
		case k.From != "" && !sameFile(k.From, t.File):
			return kept{}, fmt.Errorf("its entry %q names %s, which has the servers of %s; remove the entry first", entryName, named, k.From)
		}
		return k, nil
	}
	if entries, err := t.entries(text); err != nil || entries[entryName] != nil {
		return kept{}, errors.Join(err, fmt.Errorf("%s.%s is there and not ours; rename it first", t.member(), entryName))
	}
	fresh := kept{Servers: map[string]any{}}
	if !t.toml() {
		fresh.Original = map[string]any{}
	}
	base := strings.TrimSuffix(t.Config, ".json")
	for n := 1; n < maxFiles; n++ {
		fresh.path = t.Config
		if n > 1 {
			fresh.path = fmt.Sprintf("%s-%d.json", base, n)
		}
		k, err := t.read(fresh.path)
		if os.IsNotExist(err) {
			return fresh, nil
		}
		if err == nil && sameFile(k.From, t.File) && t.leftover(text, k) {
			return fresh, nil
		}
	}
	return kept{}, fmt.Errorf("%s and %d more files hold servers that were moved from other files; delete those that nothing names", t.Config, maxFiles-2)
}

// maxFiles bounds the number of the gateway's files for one kind of client.
const maxFiles = 100

// leftover reports whether a file of the gateway's holds nothing but servers that the client's file has too, as an
// interrupted run leaves it.
func (t Takeover) leftover(text []byte, k kept) bool {
	left, err := t.compare(text, k)
	return err == nil && left == "" && t.edited(k) == ""
}

// keep writes the gateway's configuration with more servers and reads it back.
func (t Takeover) keep(all, moved kept) error {
	if err := all.add(moved); err != nil {
		return err
	}
	all.From = t.File
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(t.Config), 0o700); err != nil {
		return err
	}
	if err := (files.Atomic{Path: t.Config}).Write(append(raw, '\n')); err != nil {
		return err
	}
	back, err := t.read(t.Config)
	if err == nil && (len(back.Servers) != len(all.Servers) || back.Text != all.Text) {
		err = fmt.Errorf("%s: it was changed while it was written", t.Config)
	}
	return err
}

// read returns the servers that were moved into a file. It is an error if gateway init did not make the file.
func (t Takeover) read(path string) (kept, error) {
	k := kept{Servers: map[string]any{}}
	if !t.toml() {
		k.Original = map[string]any{}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return k, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if err := dec.Decode(&k); err != nil {
		return k, fmt.Errorf("%s: %w", path, err)
	}
	if len(k.Original) == 0 && k.Text == "" {
		return k, fmt.Errorf("%s: %w", path, errNotMoved)
	}
	k.path = path
	return k, nil
}

// named returns the path of the gateway's file that the client's configuration names.
func (t Takeover) named(text []byte) (path string, there bool, err error) {
	entries, err := t.entries(text)
	if err != nil {
		return "", false, err
	}
	entry, _ := entries[entryName].(map[string]any)
	if entry == nil || !t.own(entry["command"]) {
		return "", false, nil
	}
	args := restriction.Texts(entry["args"])
	if t.client().Servers.CommandList {
		command := restriction.Texts(entry["command"])
		args = command[min(1, len(command)):]
	}
	if len(args) == 0 || args[0] != "gateway" {
		return "", false, nil
	}
	paths := slices.DeleteFunc(args[1:], func(arg string) bool { return !filepath.IsAbs(arg) })
	for _, path := range paths { // a user may have added --map FILE
		if _, err := t.read(path); err == nil {
			return path, true, nil
		}
	}
	if len(paths) == 0 {
		return "", true, fmt.Errorf("its entry %q names no file with an absolute path: %s", entryName, strings.Join(args, " "))
	}
	return paths[0], true, nil
}

// entries returns the servers in a client's configuration.
func (t Takeover) entries(text []byte) (map[string]any, error) {
	if !t.toml() {
		file, err := setup.ParseJSON(text)
		if err != nil {
			return nil, err
		}
		entries, _ := file.Get(t.member()).(map[string]any)
		return entries, nil
	}
	servers, err := codexEntries(text)
	entries := map[string]any{}
	for name, fields := range servers {
		entries[name] = fields
	}
	return entries, err
}

// originals returns the entries that the servers had in the client's file.
func (t Takeover) originals(k kept) (map[string]any, error) {
	if t.toml() {
		return t.entries([]byte(k.Text))
	}
	return k.Original, nil
}

// compare returns an error if the text of a client's file lacks a server that was moved. different says which servers
// are there with another definition.
func (t Takeover) compare(text []byte, k kept) (different string, err error) {
	there, err := t.entries(text)
	if err != nil {
		return "", err
	}
	originals, err := t.originals(k)
	if err != nil {
		return "", err
	}
	var lost, other []string
	for _, name := range slices.Sorted(maps.Keys(originals)) {
		switch {
		case there[name] == nil:
			lost = append(lost, name)
		case !sameJSON(there[name], originals[name]):
			other = append(other, name)
		}
	}
	if len(lost) > 0 {
		return "", fmt.Errorf("%s would be lost", strings.Join(lost, ", "))
	}
	if len(other) > 0 {
		return "the client's file has another " + strings.Join(other, ", "), nil
	}
	return "", nil
}

// edited says what the gateway's file has that the client's does not get back, or returns "".
func (t Takeover) edited(k kept) string {
	switch {
	case k.From == "":
		return "an earlier version made it, which did not record whose servers it has; delete it if no other file names it"
	case !sameFile(k.From, t.File):
		return "it has the servers of " + k.From
	}
	originals, err := t.originals(k)
	if err != nil {
		return err.Error()
	}
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(k.Servers)) {
		if originals[name] == nil || !sameJSON(t.converted(k, name), k.Servers[name]) {
			changed = append(changed, name)
		}
	}
	if len(changed) > 0 {
		return strings.Join(changed, ", ") + " was edited there"
	}
	return ""
}

// converted returns the gateway's form of a server that was moved.
func (t Takeover) converted(k kept, name string) map[string]any {
	if t.toml() {
		servers, err := codexServers([]byte(k.Text))
		if err != nil {
			return nil
		}
		return servers[name].convert()
	}
	fields, _ := k.Original[name].(map[string]any)
	return t.convert(fields)
}

// sameJSON reports whether two values are equal as JSON.
func sameJSON(a, b any) bool {
	var values [2]any
	for i, v := range []any{a, b} {
		raw, err := json.Marshal(v)
		if err != nil || json.Unmarshal(raw, &values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// sameFile reports whether two paths name one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	two, failed := os.Stat(b)
	return errors.Join(err, failed) == nil && os.SameFile(one, two)
}
