// Package usage reads in a user's own sessions which parts of the prefix they used, and what the prefix cost.
package usage

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/prefix"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/runnerfsm/setup"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Days is for how long back sessions count.
const Days = 90

// Usage is what the sessions used.
type Usage struct {
	*prefix.Use

	Share float64 // of the bill that the fixed prefix cost, from 0 to 1; 0 if it is not known
}

// Options say which sessions count.
type Options struct {
	Client *agent.Client
	Lookup func(string) (string, bool)
	Folder string // only sessions of this folder; "": all
	Now    time.Time
}

// Of reads the sessions of the last days. What cannot be read counts as nothing.
func Of(ctx context.Context, o Options) (Usage, error) {
	u := Usage{Use: prefix.NewUse()}
	var prefixes, bills float64
	err := o.each(ctx, func(s sessions.Session) {
		u.Add(s)
		b := bill.New(s, bill.PricesOf(s))
		if b.Measured {
			prefixes, bills = prefixes+b.Contents()[bill.Prefix].Sum(), bills+b.Total
		}
	})
	if bills > 0 {
		u.Share = prefixes / bills
	}
	return u, err
}

// each calls a function for each session, with the steps of its sub-agents.
func (o Options) each(ctx context.Context, yield func(sessions.Session)) error {
	dir, err := o.transcripts()
	if dir == "" || err != nil {
		return err
	}
	groups, order := o.files(dir)
	for _, name := range order {
		var whole sessions.Session
		for _, path := range groups[name] {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			_ = sessions.ReadFile(ctx, path, func(s sessions.Session) error { // lines that cannot be read are skipped
				if whole.ID == "" {
					whole, s = s, sessions.Session{}
				}
				whole.Steps = append(whole.Steps, s.Steps...)
				return nil
			})
		}
		if whole.ID != "" && (o.Folder == "" || whole.Project == o.Folder) {
			yield(whole)
		}
	}
	return nil
}

// files returns the newer transcripts by session, the session's own before those of its sub-agents, and the order.
func (o Options) files(dir string) (groups map[string][]string, order []string) {
	groups = map[string][]string{}
	files, _ := sessions.Files([]string{dir})
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || info.ModTime().Before(o.Now.AddDate(0, 0, -Days)) {
			continue
		}
		name := strings.TrimSuffix(path, ".jsonl")
		if at := strings.LastIndex(name, string(filepath.Separator)+"subagents"+string(filepath.Separator)); at >= 0 {
			name = name[:at]
		}
		if groups[name] == nil {
			order = append(order, name)
		}
		if name+".jsonl" == path {
			groups[name] = append([]string{path}, groups[name]...)
			continue
		}
		groups[name] = append(groups[name], path)
	}
	return groups, order
}

// transcripts returns the folder with the client's transcripts, "" if there is none that can be read.
func (o Options) transcripts() (string, error) {
	if o.Client.Transcripts.Folder == "" {
		return "", nil
	}
	files, err := setup.Home{Lookup: o.Lookup}.Files(o.Client.Name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(files.Dir, filepath.FromSlash(o.Client.Transcripts.Folder))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", nil
	}
	return dir, nil
}
