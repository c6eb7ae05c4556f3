package verbs

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/session"
)

// pruneRequest is one line of --batch.
type pruneRequest struct {
	Question   string         `json:"question"`
	Text       string         `json:"text"`
	SourceType lineprune.Kind `json:"source_type"`
	Budget     float64        `json:"budget"`
	File       string         `json:"file"`
	Command    string         `json:"command"`

	Tool    string          `json:"tool"`    // the tool that produced the text
	Args    map[string]any  `json:"args"`    // its arguments
	Context []session.Event `json:"context"` // earlier events of its session, most recent first
}

// options returns the pruning options of the request. A file or command counts as an argument of the call, in either
// place.
func (r *pruneRequest) options() lineprune.Options {
	call := session.Origin{Tool: r.Tool, Args: r.Args, Context: r.Context}
	if len(r.Args) == 0 {
		call.Args = map[string]any{"file_path": r.File, "command": r.Command}
		maps.DeleteFunc(call.Args, func(_ string, value any) bool { return value == "" })
	}
	return lineprune.Options{
		File: cmp.Or(r.File, call.File()), Command: cmp.Or(r.Command, call.Command()),
		Budget: r.Budget, Call: call,
	}
}

// pruneBatch answers requests until the input ends. A request that cannot be answered
// gets {"error": ...} and the next one is read.
func pruneBatch(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewReaderSize(stdin, 1<<16), bufio.NewWriter(stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read a request: %w", err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := enc.Encode(answerLine(ctx, line)); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
		}
		if err != nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (r *pruneRequest) check() error {
	if r.Question == "" {
		return errors.New(`a question is needed: {"question": "what you want to know", "text": ...}`)
	}
	if r.Budget != 0 {
		if err := checkBudget(r.Budget); err != nil {
			return err
		}
	}
	return checkKind(r.SourceType)
}

func answerLine(ctx context.Context, line []byte) any {
	var req pruneRequest
	if err := json.Unmarshal(line, &req); err != nil {
		return map[string]string{"error": "not a JSON request: " + err.Error()}
	}
	if err := req.check(); err != nil {
		return map[string]string{"error": err.Error()}
	}
	res, err := lineprune.Prune(ctx, req.Text, req.Question, req.SourceType, req.options())
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	return pruneMetadataOf(res)
}
