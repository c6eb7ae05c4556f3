package hook

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/recovery"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// mostAdded is how many tokens are added to a failed command's output.
const mostAdded = 1_500

// add shows the model the lines that the client left out of a failed command's output, as far as they matter.
func (s state) add(ctx context.Context, msg message) []byte {
	all := s.takeKept(msg.call.Session, msg.call.Shown.Head)
	body, ok := existing.Hidden(all, msg.call.Shown.Head, msg.call.Shown.Tail, "Lines %d-%d were left out above. Of these:")
	if !ok {
		return nil
	}
	k, ok := s.know(msg, output{text: all, body: body, most: mostAdded}, max(body.Tokens(), history.MinTokens))
	if !ok {
		return nil
	}
	records := openRecords(s.dir)
	defer records.close()
	m := s.machine(msg, k, records, s.spooler(msg, all))
	m.Keep = recovery.ArchiveIn(s.dir).From(s.project(msg.call.Folder), 1)
	r, ok, err := m.Prune(ctx, k.result)
	if r == nil {
		return nil
	}
	var text string
	var answer bytes.Buffer
	err = written(ctx, r, err, &answer, func() ([]byte, error) {
		text = existing.Text(body, r.Cut, r.Way)
		if !ok || !existing.NoteFits(text) {
			return nil, nil
		}
		return json.Marshal(msg.client.Hooks.Add(text))
	})
	if err != nil {
		return nil
	}
	s.note(msg, k.transcript, r.ID, 0, tokens.Claude(text))
	return answer.Bytes()
}
