// Package view is the page that shows what fills an agent's window: its model, made from what the program and the clients keep
// anyway, and the server on this machine that feeds it. It writes nothing of its own.
package view

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/assemble"
	"github.com/mcp-pruner/mcp-pruner/cmd/internal/hook"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// Sources are the places that a page's model is made from.
type Sources struct {
	Lookup func(string) (string, bool)
	Others history.OtherTools // which tools of other servers hooks may cut
	Ledger assemble.History   // what the proxy cleared

	Paths []string // transcripts and folders of them; none: the clients' own
}

// transcript is a file with sessions of a client.
type transcript struct {
	path   string
	client string // "" until it was read
	at     time.Time
	size   int64
}

// stamp changes with the file.
func (t transcript) stamp() string { return t.at.String() + "/" + time.Duration(t.size).String() }

// transcripts returns the files with sessions, those changed last first.
func (s Sources) transcripts() (list []transcript, err error) {
	add := func(client string, paths []string) error {
		files, err := sessions.Files(paths)
		for _, path := range files {
			if info, err := os.Stat(path); err == nil {
				list = append(list, transcript{path, client, lastChange(path, info), info.Size()})
			}
		}
		return err
	}
	if len(s.Paths) > 0 {
		err = add("", s.Paths)
	} else {
		for _, c := range agent.With(func(c *agent.Client) bool { return c.Transcripts.Folder != "" }) {
			paths, err := setup.Home{Lookup: s.Lookup}.Transcripts(c)
			if err != nil {
				return nil, err
			}
			_ = add(c.Name, paths) // they existed a moment ago
		}
	}
	slices.SortStableFunc(list, func(a, b transcript) int { return b.at.Compare(a.at) })
	return list, err
}

// lastChange returns when a file was changed. What a program writes to a database is in a file beside it at first.
func lastChange(path string, info os.FileInfo) time.Time {
	at := info.ModTime()
	if filepath.Ext(path) != ".db" {
		return at
	}
	if beside, err := os.Stat(path + "-wal"); err == nil && beside.ModTime().After(at) {
		return beside.ModTime()
	}
	return at
}

// state returns the state directory, "" if the environment names none.
func (s Sources) state() string {
	dir, _ := files.StateDir(s.Lookup)
	return dir
}

// notes returns what hooks replaced and what was fetched again.
func (s Sources) notes() []hook.Note {
	if dir := s.state(); dir != "" {
		return hook.ReadNotes(dir)
	}
	return nil
}

// traces returns the traces that there are: the one that the environment names, and that of the hooks.
func (s Sources) traces() (files []string) {
	candidates := []string{}
	if file, ok := s.Lookup("MCP_PRUNER_TRACE"); ok {
		candidates = append(candidates, file)
	}
	if dir := s.state(); dir != "" {
		candidates = append(candidates, filepath.Join(dir, "hook-trace.jsonl"))
	}
	for _, file := range candidates {
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			files = append(files, file)
		}
	}
	return files
}

// keyOf names a session of a file in requests.
func keyOf(path, id string) string {
	sum := sha256.Sum256([]byte(path + "\x00" + id))
	return hex.EncodeToString(sum[:8])
}

// each reads the sessions of a file. What cannot be read is skipped.
func each(ctx context.Context, path string, take func(sessions.Session)) {
	_ = sessions.ReadFile(ctx, path, func(s sessions.Session) error {
		take(s)
		return ctx.Err()
	})
}

func subAgent(path string) bool {
	return strings.Contains(filepath.ToSlash(path), "/subagents/")
}
