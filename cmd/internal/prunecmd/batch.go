package prunecmd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mcp-pruner/pruneclient/lineprune"
)

// request is one line of --batch.
type request struct {
	Question   string         `json:"question"`
	Text       string         `json:"text"`
	SourceType lineprune.Kind `json:"source_type"`
	Budget     float64        `json:"budget"`
	File       string         `json:"file"`
	Command    string         `json:"command"`
}

// batch answers requests until the input ends. A request that cannot be answered
// gets {"error": ...} and the next one is read.
func batch(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	in, out := bufio.NewReaderSize(stdin, 1<<16), bufio.NewWriter(stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read a request: %w", err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := enc.Encode(answer(ctx, line)); err != nil {
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

func (r *request) check() error {
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

func answer(ctx context.Context, line []byte) any {
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return map[string]string{"error": "not a JSON request: " + err.Error()}
	}
	if err := req.check(); err != nil {
		return map[string]string{"error": err.Error()}
	}
	opts := lineprune.Options{File: req.File, Command: req.Command, Budget: req.Budget}
	res, err := lineprune.Prune(ctx, req.Text, req.Question, req.SourceType, opts)
	if err != nil {
		return map[string]string{"error": err.Error()}
	}
	return metadataOf(res)
}
