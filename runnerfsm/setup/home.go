package setup

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Home finds the configuration files of one user's clients.
type Home struct {
	Lookup func(string) (string, bool) // finds a variable of the environment, as os.LookupEnv does
}

// Files are the configuration files of a client.
type Files struct {
	Dir     string // folder of the client's settings
	Hooks   File   // settings with the client's hooks, or our plugin; without a path: the client has none
	Servers File   // settings with the client's MCP servers

	Settings File // the client's other settings
}

// At returns one of the files, without a path if it is one of its own.
func (f Files) At(p agent.Place) File {
	switch p {
	case agent.InHooks:
		return f.Hooks
	case agent.InServers:
		return f.Servers
	case agent.InSettings:
		return f.Settings
	}
	return File{}
}

// Files returns the files of the client with a name. They need not exist.
func (h Home) Files(client string) (Files, error) {
	c := agent.Named(client)
	if c.Name == "" {
		return Files{}, fmt.Errorf("unknown client %q", client)
	}
	dir, err := h.Folder(c.Files.Folder)
	if err != nil {
		return Files{}, err
	}
	hooks, err := h.file(c, dir, c.Files.Hooks)
	if err != nil {
		return Files{}, err
	}
	servers, err := h.file(c, dir, c.Files.Servers)
	if err != nil {
		return Files{}, err
	}
	settings, err := h.file(c, dir, c.Files.Settings)
	return Files{dir, hooks, servers, settings}, err
}

// Transcripts returns the folder and the databases with the records of a client's sessions, if they exist.
func (h Home) Transcripts(c *agent.Client) ([]string, error) {
	in := c.Files.Folder
	if c.Transcripts.In != nil {
		in = *c.Transcripts.In
	}
	dir, err := h.Folder(in)
	if err != nil || c.Transcripts.Folder == "" {
		return nil, err
	}
	var found []string
	folder := filepath.Join(dir, filepath.FromSlash(c.Transcripts.Folder))
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		found = append(found, folder)
	}
	entries, _ := os.ReadDir(dir) // not there: nothing was recorded
	for _, e := range entries {
		if ok, _ := filepath.Match(c.Transcripts.Database, e.Name()); ok && e.Type().IsRegular() {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}

// File returns a file in a client's folder.
func (h Home) File(c *agent.Client, f agent.File) (File, error) {
	dir, err := h.Folder(c.Files.Folder)
	if err != nil {
		return File{}, err
	}
	return h.file(c, dir, f)
}

// file returns a file of a client whose settings are in a folder.
func (h Home) file(c *agent.Client, dir string, f agent.File) (File, error) {
	if f.Name == "" {
		return File{}, nil
	}
	if f.In != nil {
		var err error
		if dir, err = h.Folder(*f.In); err != nil {
			return File{}, err
		}
	}
	name := f.Name
	for _, other := range slices.Backward(f.Or) {
		if _, err := os.Lstat(filepath.Join(dir, other)); err == nil {
			name = other
		}
	}
	return File{filepath.Join(dir, filepath.FromSlash(name)), Syntax{c.Title, f.As}}, nil
}

// ServersFile returns a file at a path as one that has the MCP servers of a client.
func ServersFile(client, path string) File {
	c := agent.Named(client)
	return File{path, Syntax{c.Title, c.Files.Servers.As}}
}

// ProjectServers returns the file in which a project lists MCP servers for a client, without a path if there is none.
func ProjectServers(client, dir string) File {
	name := agent.Named(client).Files.Project
	if name == "" {
		return File{}
	}
	return ServersFile(client, filepath.Join(dir, name))
}

// Folder returns a folder of the user. A relative path is an error, because it names another folder in every directory.
func (h Home) Folder(f agent.Folder) (string, error) {
	if v := h.get(f.Variable); v != "" {
		return filepath.Join(v, f.Below), h.absolute(f.Variable, v)
	}
	name := "HOME"
	home := h.get(name)
	if home == "" && runtime.GOOS == "windows" {
		name = "USERPROFILE"
		home = h.get(name)
	}
	if home == "" {
		return "", fmt.Errorf("%s is not set, so the configuration of the client cannot be found: set it to your home folder", name)
	}
	return filepath.Join(home, cmp.Or(f.On[runtime.GOOS], f.Default), f.Below), h.absolute(name, home)
}

func (h Home) get(variable string) string {
	if v, set := h.Lookup(variable); set && variable != "" {
		return v
	}
	return ""
}

func (h Home) absolute(variable, value string) error {
	if filepath.IsAbs(value) {
		return nil
	}
	return fmt.Errorf("%s is %q, so the configuration of the client cannot be found: that is another folder in each directory; "+
		"set it to an absolute path", variable, value)
}
