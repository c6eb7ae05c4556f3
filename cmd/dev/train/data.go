package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/folds"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// pruneWeight is the training weight of a prunebench case. Cases from agents' sessions have the weight 1.
const pruneWeight = 0.3

// benchCase is a case of sessionbench or prunebench.
type benchCase struct {
	Question string         `json:"question"`
	Text     string         `json:"text"`
	Type     lineprune.Kind `json:"source_type"`
	Task     string         `json:"task"`
	Tool     string         `json:"tool"`
	Args     map[string]any `json:"args"`
	Gold     []int          `json:"gold"`
	Source   string         `json:"source"`
	Repo     string         `json:"repo"`
	Session  string         `json:"session"`
	Step     int            `json:"step"`
	Meta     struct {
		Path    string `json:"path"`
		Pattern string `json:"pattern"`
		Tool    string `json:"tool"`
	} `json:"meta"`
}

// collections maps the source of a sessionbench case to the collection that has its session.
var collections = map[string]string{"entire": "claude-code", "vorflux": "swe-bench", "gemini3pro": "mini-swe"}

// data holds the examples by their origin. All are learned from; results are measured on those of sessionbench and
// prunebench only.
type data struct {
	session, prune, replay []*example
}

func (d *data) all() []*example {
	all := append(append([]*example(nil), d.session...), d.replay...)
	return append(all, d.prune...)
}

func load(ctx context.Context, dir string) (*data, error) {
	cases, contexts, err := loadSessions(ctx, filepath.Join(dir, "sessions"))
	if err != nil {
		return nil, err
	}
	d := &data{replay: cases}
	if d.session, err = loadSessionBench(filepath.Join(dir, "sessionbench", "dev", "cases.jsonl.gz"), contexts); err != nil {
		return nil, err
	}
	d.prune, err = loadPruneBench(filepath.Join(dir, "prunebench", "dev"))
	return d, err
}

// readCases calls each with every case of a gzipped file of JSON lines.
func readCases(name string, each func(benchCase)) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	dec := json.NewDecoder(bufio.NewReaderSize(z, 1<<20))
	for {
		var c benchCase
		if err := dec.Decode(&c); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		each(c)
	}
}

// loadSessions returns an example for each result with lines that the session used later, by the rules of package
// replay. It also returns the known events of every step; stepKey makes the key.
func loadSessions(ctx context.Context, dir string) ([]*example, map[string]known, error) {
	var out []*example
	contexts := map[string]known{}
	err := folds.Sessions(ctx, dir, func(name string, s sessions.Session) error {
		return replayCases(ctx, s, func(c replayCase) {
			contexts[stepKey(name, s.ID, c.step)] = known{c.Context, c.Served}
			if len(c.gold) > 0 && c.Question != "" {
				out = append(out, &example{
					question: c.Question, text: c.Body.Code(), task: string(c.call.Kind), gold: c.gold, weight: 1,
					call: session.Origin{Tool: c.call.Tool, Args: c.args, Context: c.Context}, served: c.Served,
					group: s.ID, repo: folds.Repository(s.Source, s.ID),
				})
			}
		})
	})
	return out, contexts, err
}

// known holds the events of a session before one step: all of them, and those that our own server sees.
type known struct{ all, served []session.Event }

func stepKey(collection, session string, step int) string {
	return fmt.Sprintf("%s/%s/%d", collection, session, step)
}

// loadSessionBench reads the cases of sessionbench and adds the events before each of them.
func loadSessionBench(name string, contexts map[string]known) ([]*example, error) {
	var out []*example
	err := readCases(name, func(c benchCase) {
		collection := collections[c.Source]
		before := contexts[stepKey(collection, c.Session, c.Step)]
		out = append(out, &example{
			question: c.Question, text: c.Text, kind: c.Type, task: c.Task, gold: c.Gold, weight: 1, test: true,
			call: session.Origin{Tool: c.Tool, Args: c.Args, Context: before.all}, served: before.served,
			group: c.Session, repo: folds.Repository(c.Source, c.Session),
		})
	})
	return out, err
}

// loadPruneBench reads questions that people asked about files, logs and lists of matches. Each gets a session about
// other repositories, so that the ranking learns to ignore unrelated sessions.
func loadPruneBench(dir string) ([]*example, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl.gz"))
	var all []benchCase
	for _, name := range files {
		err = errors.Join(err, readCases(name, func(c benchCase) {
			if len(c.Gold) > 0 {
				all = append(all, c)
			}
		}))
	}
	var out []*example
	for i, c := range all {
		call := session.Origin{Args: argumentsOf(c)}
		for k := 1; k <= foreignCases; k++ {
			if other := all[(31*i+97*k)%len(all)]; other.Repo != c.Repo {
				call.Context = append(call.Context, eventsOf(other)...)
			}
		}
		out = append(out, &example{
			question: c.Question, text: c.Text, kind: c.Type, task: c.Task, gold: c.Gold, call: call, served: call.Context,
			group: c.Repo, repo: c.Repo, weight: pruneWeight, test: true,
		})
	}
	return out, err
}

// foreignCases is the largest number of other cases that make up the session of a prunebench case. Those of the same
// repository are left out.
const foreignCases = 8

// argumentsOf returns the arguments that a tool call with a case's text as its result would have.
func argumentsOf(c benchCase) map[string]any {
	switch {
	case c.Meta.Pattern != "":
		return map[string]any{"pattern": c.Meta.Pattern}
	case c.Meta.Tool != "":
		return map[string]any{"command": c.Meta.Tool}
	}
	return map[string]any{"file_path": c.Meta.Path}
}

// eventsOf returns the events of a session that read a case's text, up to 4,000 bytes of it, and asked its question.
func eventsOf(c benchCase) []session.Event {
	file := session.Origin{Args: argumentsOf(c)}.File()
	return []session.Event{
		{Kind: session.Result, Text: c.Text[:min(len(c.Text), 4000)], File: file},
		{Kind: session.Read, File: file},
		{Kind: session.Say, Text: c.Question},
	}
}
