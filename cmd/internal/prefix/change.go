package prefix

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// SwitchedOff is a thing that is switched off.
type SwitchedOff struct {
	agent.Thing
	Switch agent.Switch `json:"switch"`
	Tokens int          `json:"tokens"`

	// Entry is a checksum of a server's entry in the settings: another one means that the user installed it anew.
	Entry string `json:"entry,omitempty"`
}

// In reports whether a prefix still has the thing: of a server, one of its tools.
func (o SwitchedOff) In(parts []sessions.Part) bool {
	return slices.ContainsFunc(parts, func(p sessions.Part) bool {
		if o.Kind == "server" {
			return p.Kind == sessions.ToolPart && p.Server == o.Name
		}
		return string(p.Kind) == o.Kind && p.Name == o.Name
	})
}

// ChangeNote is the record of a changed file.
type ChangeNote struct {
	Client string        `json:"client"`
	File   string        `json:"file"`
	Folder string        `json:"folder,omitempty"` // of the project whose file it is
	When   time.Time     `json:"when"`
	Off    []SwitchedOff `json:"off"`

	Before []byte   `json:"before"`         // nil: there was no file
	After  []byte   `json:"after"`          // as this program left it
	Made   []string `json:"made,omitempty"` // folders that it created, the outer ones first
}

// ChangeTarget is a settings file with the folder of the notes.
type ChangeTarget struct {
	setup.File
	Client string
	Folder string // "": the file is the user's, for all projects
	State  string // folder of this program's state
	Now    time.Time
}

func (t ChangeTarget) notePath() string {
	sum := sha256.Sum256([]byte(t.Path))
	return filepath.Join(t.State, "context", t.Client+"-"+hex.EncodeToString(sum[:6])+".json")
}

// Note returns the note of the file, nil if nothing is switched off in it.
func (t ChangeTarget) Note() (*ChangeNote, error) {
	text, err := os.ReadFile(t.notePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n := &ChangeNote{}
	if err := json.Unmarshal(text, n); err != nil {
		return nil, fmt.Errorf("%s: %w", t.notePath(), err)
	}
	return n, nil
}

// ChangeNotes returns the notes of all changed files. What cannot be read is left out.
func ChangeNotes(state string) (notes []ChangeNote) {
	paths, _ := filepath.Glob(filepath.Join(state, "context", "*.json"))
	for _, path := range paths {
		var n ChangeNote
		text, err := os.ReadFile(path)
		if err == nil && json.Unmarshal(text, &n) == nil {
			notes = append(notes, n)
		}
	}
	return notes
}

// refusedSwitch is a thing whose switch cannot be set, and why.
type refusedSwitch struct {
	agent.Thing
	Why error
}

// On switches things off. Those whose place in the file has another value already are returned; the file is left as it is if
// nothing remains or if it cannot be changed safely.
func (t ChangeTarget) On(things []SwitchedOff) (done []SwitchedOff, refused []refusedSwitch, err error) {
	before, err := t.Read()
	if err != nil {
		return nil, nil, err
	}
	after := before
	for _, thing := range things {
		next, err := t.SwitchOn(after, thing.Switch)
		if occupied, ok := errors.AsType[*setup.Occupied](err); ok {
			refused = append(refused, refusedSwitch{thing.Thing, occupied})
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if bytes.Equal(next, after) && !containsSwitch(done, thing.Switch) {
			refused = append(refused, refusedSwitch{thing.Thing, errors.New("your settings switch it off already")})
			continue
		}
		after, done = next, append(done, thing)
	}
	if len(done) == 0 {
		return nil, refused, nil
	}
	return done, refused, t.save(before, after, done)
}

func containsSwitch(list []SwitchedOff, s agent.Switch) bool {
	return slices.ContainsFunc(list, func(o SwitchedOff) bool { return reflect.DeepEqual(o.Switch, s) })
}

// save writes the note before the file, so that there is a way back whenever the file is changed.
func (t ChangeTarget) save(before, after []byte, done []SwitchedOff) error {
	check := func(before, after []byte) error { return t.sameBut(before, after, done) }
	edit := func([]byte) ([]byte, error) { return after, nil }
	if _, _, err := t.Plan(edit, check); err != nil {
		return err
	}
	old, err := t.Note()
	if err != nil {
		return err
	}
	n := ChangeNote{Client: t.Client, File: t.Path, Folder: t.Folder, When: t.Now, Off: done, Before: before, After: after, Made: missingFolders(filepath.Dir(t.Path))}
	if old != nil {
		n.Off, n.When, n.Made = slices.Concat(old.Off, done), old.When, old.Made
		if n.Before, err = t.original(*old, before); err != nil {
			return err
		}
	}
	if err := t.keep(n); err != nil {
		return err
	}
	if _, err := t.Update(edit, check); err != nil {
		if old != nil {
			return errors.Join(err, t.keep(*old))
		}
		return errors.Join(err, t.forget())
	}
	return nil
}

// original returns the file as it would be had this program never changed it.
func (t ChangeTarget) original(n ChangeNote, now []byte) ([]byte, error) {
	if bytes.Equal(now, n.After) {
		return n.Before, nil
	}
	for _, o := range n.Off {
		var err error
		if now, err = t.SwitchOff(now, o.Switch); err != nil {
			return nil, err
		}
	}
	return now, nil
}

// sameBut returns an error unless the client finds the switches in the text after, and else reads the same in both texts.
func (t ChangeTarget) sameBut(before, after []byte, done []SwitchedOff) error {
	for _, o := range done {
		again, err := t.SwitchOn(after, o.Switch)
		if err != nil || !bytes.Equal(again, after) {
			return errors.Join(err, errors.New("the client would not find the switch for "+o.Name))
		}
	}
	for _, o := range done {
		var err error
		if after, err = t.SwitchOff(after, o.Switch); err != nil {
			return err
		}
	}
	was, err := t.Syntax.Decode(before)
	if err != nil {
		return err
	}
	is, err := t.Syntax.Decode(after)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(setup.Filled(was), setup.Filled(is)) {
		return errors.New("the change would alter more than the switches")
	}
	return nil
}

// Untouched reports whether nobody has changed the file since things were switched off in it.
func (t ChangeTarget) Untouched() bool {
	n, err := t.Note()
	if n == nil || err != nil {
		return false
	}
	now, err := t.Read()
	return err == nil && now != nil && bytes.Equal(now, n.After)
}

// undone says how things were switched on again.
type undone struct {
	Off   []SwitchedOff
	Exact bool // the file is byte for byte what it was; otherwise only our entries went
}

// Undo switches the parts on again that were switched off in the file.
func (t ChangeTarget) Undo() (*undone, error) {
	n, err := t.Note()
	if n == nil || err != nil {
		return nil, err
	}
	now, err := t.Read()
	if err != nil {
		return nil, err
	}
	if now == nil { // somebody removed the file, and our entries with it
		return &undone{n.Off, n.Before == nil}, t.forget()
	}
	if bytes.Equal(now, n.After) {
		if err := t.Restore(now, n.Before); err != nil {
			return nil, err
		}
		for _, dir := range slices.Backward(n.Made) {
			_ = os.Remove(dir) // fails if something else is in it
		}
		return &undone{n.Off, true}, t.forget()
	}
	if _, err := t.without(now, n.Off); err != nil {
		return nil, err
	}
	return &undone{n.Off, false}, t.forget()
}

// Back switches some things on again.
func (t ChangeTarget) Back(some []SwitchedOff) error {
	n, err := t.Note()
	if n == nil || err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(n.Off), func(o SwitchedOff) bool { return containsSwitch(some, o.Switch) })
	if len(rest) == 0 {
		_, err := t.Undo()
		return err
	}
	now, err := t.Read()
	if err != nil {
		return err
	}
	after, err := t.without(now, some)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, n.After) { // somebody else has changed it
		if n.Before, err = t.original(*n, now); err != nil {
			return err
		}
	}
	n.Off, n.After = rest, after
	return t.keep(*n)
}

// without takes switches out of the file.
func (t ChangeTarget) without(now []byte, some []SwitchedOff) (after []byte, err error) {
	after = now
	for _, o := range some {
		if after, err = t.SwitchOff(after, o.Switch); err != nil {
			return nil, err
		}
	}
	_, err = t.Update(func([]byte) ([]byte, error) { return after, nil })
	return after, err
}

func (t ChangeTarget) keep(n ChangeNote) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return files.Atomic{Path: t.notePath(), Mode: 0o600}.Write(text)
}

func (t ChangeTarget) forget() error { return os.Remove(t.notePath()) }

// missingFolders returns the folders of a path that do not exist, the outer ones first.
func missingFolders(dir string) (list []string) {
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			slices.Reverse(list)
			return list
		}
		list = append(list, dir)
		dir = filepath.Dir(dir)
	}
}
