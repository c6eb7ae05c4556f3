// Package tracetest makes traces for tests: as servers would have written them, and as somebody would change them who
// can compute checksums and has no key.
package tracetest

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// Lines splits a trace into lines, each with its newline.
func Lines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte("\n"))
	return lines[:len(lines)-1]
}

// Decode decodes a line, so that the record can be changed.
func Decode(t testing.TB, line []byte) *trace.Record {
	t.Helper()
	r := new(trace.Record)
	require.NoError(t, trace.NewDecoder().Decode(bytes.TrimSuffix(line, []byte("\n")), r))
	return r
}

// Encode encodes a changed record as a line whose checksum fits. It shows what checksums alone do not prove.
func Encode(r *trace.Record) []byte {
	introduce(r, "made up")
	return line(r)
}

// introduce gives the first line of a process, and no other, what it has to say.
func introduce(r *trace.Record, key string) {
	switch {
	case r.Seq != 1:
		r.Process = nil
	case r.Process == nil:
		r.Process = &trace.Process{Key: key}
	case r.Process.Key == "":
		r.Process.Key = key
	}
}

func line(r *trace.Record) []byte {
	slices.SortFunc(r.Pruning, func(x, y trace.Value) int { return fsm.CompareFields(x.Field, y.Field) })
	return trace.AppendRecord(nil, r)
}

// Seal encodes a record with a seal that is valid for its line, made with a key of the forger's own.
func Seal(r *trace.Record) []byte {
	introduce(r, public)
	r.Seal = &trace.Seal{By: public, Next: public}
	text, _, _ := bytes.Cut(line(r), []byte(`,"sig":`))
	r.Seal.Sig = base64.RawStdEncoding.EncodeToString(ed25519.Sign(key, text))
	return line(r)
}

// The key of the forger. Servers replace theirs with every seal.
var (
	key    = ed25519.NewKeyFromSeed(bytes.Repeat([]byte("k"), ed25519.SeedSize))
	public = base64.RawStdEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
)

// Chain gives the records of one process their numbers, the hash of the record before, and a signature.
func Chain(records ...*trace.Record) []byte {
	var text []byte
	prev := ""
	for i, r := range records {
		r.Seq, r.Prev = uint64(i+1), prev
		text = append(text, Seal(r)...)
		prev = r.Link
	}
	return text
}

// HeadLog keeps heads as an event log does.
type HeadLog struct{ bytes.Buffer }

// Keep implements [trace.Heads].
func (l *HeadLog) Keep(h trace.Head) error {
	fsm.JSONSink(l, fsm.LevelDebug)(h.Event())
	return nil
}
