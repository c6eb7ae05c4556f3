package view

import (
	"context"
	"encoding/json"
	"os"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
	"github.com/mcp-pruner/mcp-pruner/states/replay"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

// prefixes returns the reports that `mcp-pruner context` kept, by client. They have sizes and names, no texts.
func (s Sources) prefixes() map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	for _, c := range agent.With(func(c *agent.Client) bool { return c.Prefix != nil }) {
		text, err := os.ReadFile(files.PrefixReport(s.state(), c.Name))
		if err == nil && json.Valid(text) {
			found[c.Name] = text
		}
	}
	return found
}

// listedRecords is the number of records of a trace, the latest ones, that the page lists.
const listedRecords = 20_000

// trace returns the tab of the traces, nil if there are none.
func (s Sources) trace() (m *audit.PageModel, err error) {
	files := s.traces()
	if len(files) == 0 {
		return nil, nil
	}
	err = audit.Open(files, nil, func(sources []*audit.Source) error {
		t, err := audit.Verify(sources, audit.Options{All: true})
		if err != nil {
			return err
		}
		made, _, err := audit.NewPageModel(t, audit.Selection{}, files, listedRecords)
		m = &made
		return err
	})
	return m, err
}

// replay returns the tab of the replay of all sessions that there are.
func (s Sources) replay(ctx context.Context) (*replay.Tab, error) {
	list, err := s.transcripts()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	var files []string
	for _, t := range list[:min(len(list), replayedFiles)] {
		files = append(files, t.path)
	}
	r, _, err := replay.Replay(ctx, replay.Settings{Files: files, Policies: replay.Policies(), Others: s.Others, Progress: func(string) {}})
	if err != nil {
		return nil, err
	}
	tab := r.Tab()
	return &tab, nil
}

// replayedFiles is the number of transcripts, the latest ones, that are replayed.
const replayedFiles = 100
