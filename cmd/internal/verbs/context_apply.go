package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/command"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/prefix"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// target returns the file that is changed: the user's, or the project's that is the user's alone.
func (o contextOptions) target(own bool) (prefix.ChangeTarget, error) {
	t := prefix.ChangeTarget{Client: o.Client.Name, Now: time.Now()}
	found, err := setup.Home{Lookup: o.Project.Lookup}.Files(o.Client.Name)
	if err != nil {
		return t, err
	}
	if t.State, err = files.StateDir(o.Project.Lookup); err != nil {
		return t, err
	}
	t.File = found.At(o.Client.Prefix.SwitchesIn)
	if own {
		if o.Client.Prefix.Own == "" {
			return t, command.Usagef("%s has no settings of a project that are yours alone; leave out --project", o.Client.Title)
		}
		t.Folder = o.Folder
		t.File = setup.File{Path: filepath.Join(o.Folder, filepath.FromSlash(o.Client.Prefix.Own)), Syntax: t.File.Syntax}
	}
	return t, nil
}

// apply switches off the parts that can go, or those with the names, and measures again.
func (o contextOptions) apply(ctx context.Context, r *contextReport) error {
	t, err := o.target(o.own)
	if err != nil {
		return err
	}
	list, wrong := r.chosen(o.names)
	if len(wrong) > 0 {
		return command.Usagef("nothing is changed: %s", strings.Join(wrong, "; "))
	}
	things := make([]prefix.SwitchedOff, len(list))
	for i, c := range list {
		things[i] = c.SwitchedOff
		if c.Kind == "server" {
			things[i].Entry = o.Entry(c.Name)
		}
	}
	done, refused, err := t.On(things)
	if err != nil {
		return fmt.Errorf("%s: %w", t.Path, err)
	}
	r.After = &contextAfter{Tokens: r.Tokens, File: t.Path, Off: []string{}}
	for _, f := range refused {
		r.After.Left = append(r.After.Left, fmt.Sprintf("%s: %v", f.Name, f.Why))
	}
	if len(done) == 0 {
		return nil
	}
	after, err := o.start(ctx)
	if !after.complete {
		err = errors.Join(err, errors.New("the client did not send the request for a model's turn"))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s is as it was, because after the change there was no request to compare: %w", t.Path, err), t.Back(done))
	}
	return r.compare(t, done, after)
}

// compare takes back the switches without effect.
func (r *contextReport) compare(t prefix.ChangeTarget, done []prefix.SwitchedOff, after contextSeen) error {
	r.After.Tokens = after.Tokens
	for _, p := range after.Parts {
		r.After.Parts = append(r.After.Parts, p.Part)
	}
	var without []prefix.SwitchedOff
	for _, o := range done {
		if o.In(r.After.Parts) {
			without = append(without, o)
			r.After.Without = append(r.After.Without, o.Name)
			continue
		}
		r.After.Off = append(r.After.Off, o.Name)
	}
	if len(without) == 0 {
		return nil
	}
	return t.Back(without)
}

// undo switches the parts on again that are off in the user's file and in the project's.
func (o contextOptions) undo() error {
	found := false
	for _, own := range []bool{false, true} {
		if own && o.Client.Prefix.Own == "" {
			continue
		}
		t, err := o.target(own)
		if err != nil {
			return err
		}
		undone, err := undoIn(o.Stdout, t)
		if err != nil {
			return err
		}
		found = found || undone
	}
	if !found {
		fmt.Fprintf(o.Stdout, "nothing of %s is switched off by mcp-pruner here\n", o.Client.Title)
	}
	return nil
}

// undoIn switches the parts on again that are off in one file, and prints that. undone is false if nothing is.
func undoIn(w io.Writer, t prefix.ChangeTarget) (undone bool, err error) {
	u, err := t.Undo()
	if err != nil {
		return false, fmt.Errorf("%s: %w", t.Path, err)
	}
	if u == nil {
		return false, nil
	}
	names := make([]string, len(u.Off))
	for i, off := range u.Off {
		names[i] = off.Name
	}
	how := "it is byte for byte what it was"
	if !u.Exact {
		how = "somebody has changed it since, so only these entries are taken out"
	}
	_, err = fmt.Fprintf(w, "%s: %s on again; %s\n", t.Path, strings.Join(slices.Compact(names), ", "), how)
	return true, err
}

// undoContext switches the parts on again that are off in any file of any client, those of projects among them; with untouched, only in files that
// nobody has changed since.
func undoContext(p command.Process, w io.Writer, untouched bool) (failed error) {
	dir, err := files.StateDir(p.Lookup)
	if err != nil {
		return nil //nolint:nilerr // there can be no note
	}
	for _, n := range prefix.ChangeNotes(dir) {
		o := contextOptions{Process: p, Project: prefix.Project{Client: agent.Named(n.Client), Folder: n.Folder, Lookup: p.Lookup}}
		if o.Client.Prefix == nil {
			continue // a note of another version
		}
		t, err := o.target(n.Folder != "")
		t.Path = n.File // wherever the client's folder is now
		if err == nil && (!untouched || t.Untouched()) {
			_, err = undoIn(w, t)
		}
		failed = errors.Join(failed, err)
	}
	return failed
}
