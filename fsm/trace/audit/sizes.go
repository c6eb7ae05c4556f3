package audit

import (
	"errors"
	"fmt"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// leastAround returns a lower bound for what stands around the text in a message. Over HTTP the answer of POST /prune is
// the text alone; elsewhere the hook of opencode puts the least around it.
func leastAround(machine string) int {
	if machine == "request-http" {
		return 0
	}
	return len(`{"output":""}`)
}

// checkSizes compares the sizes with each other, with the metadata and with the path.
func checkSizes(r *trace.Record, end *learnedRow, shown evidence, m metadata) error {
	b, t := r.Bytes, r.Tokens
	why := r.Steps[len(r.Steps)-1].Why
	silent := end.Trigger == fsm.WriteFailed || r.Answer == trace.Unwritten || end.Trigger == fsm.Abort && why == "cancelled"
	switch {
	case min(b.Raw, b.Sent, b.Wire, t.Raw, t.Sent, t.Question) < 0:
		return errors.New("a size is negative")
	case b.Wire == 0 && (b != trace.Bytes{} || t != trace.Tokens{}):
		return errors.New("there are sizes of an answer of no bytes")
	case b.Wire == 0 && end.Trigger == fsm.Written:
		return errors.New("an answer was written, and its sizes are missing")
	case b.Wire == 0:
		return nil
	case silent:
		return errors.New("nobody was answered, and there are sizes of an answer")
	case b.Sent+leastAround(r.Machine) > b.Wire && !r.Opaque:
		return fmt.Errorf("a message of %d bytes cannot hold a text of %d", b.Wire, b.Sent)
	}
	if err := checkText(r, end, m); err != nil {
		return err
	}
	return checkTokens(r, shown, m)
}

// checkText compares the sizes of the text with those of the tool's output and of what stands beside it.
func checkText(r *trace.Record, end *learnedRow, m metadata) error {
	b := r.Bytes
	if !m.output || end.Trigger == fsm.Abort {
		if b.Raw != 0 || b.Sent != 0 {
			return errors.New("there is no output on the path, but the record has the size of a text")
		}
		return nil
	}
	if end.From != fsm.RespondRaw && end.From != fsm.RespondPruned {
		if b.Raw != b.Sent {
			return errors.New("the text of an error was not pruned, but the raw size and the size sent differ")
		}
		return nil
	}
	if int64(b.Raw) != m.raw+int64(b.Beside) {
		return fmt.Errorf("raw_bytes is %d and %d bytes stand beside it, but bytes.raw is %d", m.raw, b.Beside, b.Raw)
	}
	if m.applied && int64(b.Sent) != m.pruned+int64(b.BesideSent) {
		return fmt.Errorf("pruned_bytes is %d and %d bytes stand beside it, but bytes.sent is %d", m.pruned, b.BesideSent, b.Sent)
	}
	return nil
}

// checkTokens checks that a text has at least one token and at most one per byte, and that
// an unpruned text has the same number of tokens before and after.
func checkTokens(r *trace.Record, shown evidence, m metadata) error {
	b, t := r.Bytes, r.Tokens
	fits := func(tokens, bytes int) bool { return tokens <= bytes && (tokens > 0) == (bytes > 0) }
	switch {
	case r.Recovered != "" && t == trace.Tokens{}: // notes do not store token counts
		return nil
	case !fits(t.Raw, b.Raw) || !fits(t.Sent, b.Sent):
		return fmt.Errorf("texts of %d and %d bytes cannot have %d and %d tokens", b.Raw, b.Sent, t.Raw, t.Sent)
	case !m.applied && b.Raw == b.Sent && t.Raw != t.Sent:
		return errors.New("nothing was pruned, but the tokens without pruning and those sent differ")
	case !shown.question.allows(t.Question > 0):
		return fmt.Errorf("the path contradicts a question of %d tokens", t.Question)
	}
	return nil
}
