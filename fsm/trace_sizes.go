package fsm

import (
	"errors"
	"fmt"
)

// Bounds of what an answer has beside the output that a pruner is given.
const (
	noteBytes     = 512      // a note in brackets
	streamBytes   = 16 << 20 // a second stream: no tool returns more than 10 MiB
	streamMark    = len("[stderr]\n")
	questionBytes = 4000                            // 1000 characters
	envelopeBytes = len(`{"jsonrpc":"2.0","id":1}`) // every message has more than that

	keptNoneLeast, keptNoneMost = 80, 128 // a note that a pruner kept nothing
)

// checkSizes compares the sizes with each other, with the metadata and with the way.
func checkSizes(r *Record, end *replayRow, shown evidence, m metadata, oneText bool) error {
	b, t := r.Bytes, r.Tokens
	why := r.Steps[len(r.Steps)-1].Why
	silent := end.Trigger == WriteFailed || end.Trigger == Abort && why == "cancelled"
	switch {
	case min(b.Raw, b.Sent, b.Wire, t.Raw, t.Sent, t.Question) < 0:
		return errors.New("a size is negative")
	case b.Wire == 0 && (b != TraceBytes{} || t != TraceTokens{}):
		return errors.New("there are sizes of an answer of no bytes")
	case b.Wire == 0 && end.Trigger == Written:
		return errors.New("an answer was written, and its sizes are missing")
	case b.Wire == 0:
		return nil
	case silent:
		return errors.New("nobody was answered, and there are sizes of an answer")
	case b.Sent+envelopeBytes >= b.Wire:
		return fmt.Errorf("a message of %d bytes cannot hold a text of %d", b.Wire, b.Sent)
	}
	if err := checkText(r, end, m, oneText); err != nil {
		return err
	}
	return checkTokens(b, t, shown, m)
}

// checkText compares the text with the output it was made of.
func checkText(r *Record, end *replayRow, m metadata, oneText bool) error {
	b := r.Bytes
	if !m.output || end.Trigger == Abort {
		if b.Raw != 0 || b.Sent != 0 {
			return errors.New("there is no output on the way, and a text is said to have been sent")
		}
		return nil
	}
	if !m.applied && b.Raw != b.Sent {
		return errors.New("nothing was pruned, but the raw size and the size sent differ")
	}
	if end.Trigger != Written { // the text is that of an error
		return nil
	}
	beside := int64(b.Raw) - m.raw
	limit := int64(streamBytes)
	if m.raw == 0 || oneText {
		limit = noteBytes
	}
	if beside < 0 || beside > limit {
		return fmt.Errorf("raw_bytes is %d, and the text without pruning is said to have %d bytes", m.raw, b.Raw)
	}
	return checkPruned(b, m, beside)
}

// checkPruned: what stands beside the pruned text was not pruned. A line end between
// the two comes and goes, where nothing was left a note says so (which earlier
// versions counted as raw, too), and with nothing left of a stream that stood alone
// they had a mark that went with it.
func checkPruned(b TraceBytes, m metadata, beside int64) error {
	more := int64(b.Sent) - m.pruned - beside
	same, noted := more >= -1 && more <= 1, more >= keptNoneLeast && more <= keptNoneMost
	if m.pruned == 0 {
		same = same || more < 0 && more >= -1-int64(streamMark)
	}
	if m.applied && !same && !noted {
		return fmt.Errorf("pruned_bytes is %d, and the text is said to have %d bytes of %d", m.pruned, b.Sent, b.Raw)
	}
	return nil
}

// checkTokens: a text has at least one token and at most as many as bytes, and the
// same text has as many as before.
func checkTokens(b TraceBytes, t TraceTokens, shown evidence, m metadata) error {
	fits := func(tokens, bytes int) bool { return tokens <= bytes && (tokens > 0) == (bytes > 0) }
	switch {
	case !fits(t.Raw, b.Raw) || !fits(t.Sent, b.Sent):
		return fmt.Errorf("texts of %d and %d bytes are said to have %d and %d tokens", b.Raw, b.Sent, t.Raw, t.Sent)
	case !m.applied && t.Raw != t.Sent:
		return errors.New("nothing was pruned, but the tokens without pruning and those sent differ")
	case !shown.question.allows(t.Question > 0) || t.Question > questionBytes:
		return fmt.Errorf("the way contradicts a question of %d tokens", t.Question)
	}
	return nil
}
