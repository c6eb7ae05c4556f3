package trace

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

func benchMachine(b *testing.B) *fsm.Machine {
	b.Helper()
	m := fsm.MustCompile(fsm.RequestTable()).New("req_0123456789abcdef", fsm.Hooks{})
	for _, trigger := range []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion, fsm.Written} {
		require.NoError(b, m.Fire(b.Context(), trigger, fsm.Facts{"raw_bytes": 1000, "tool": "read"}))
	}
	return m
}

// BenchmarkTrace measures the cost of a record to its request: taking, encoding, noting and
// queueing it.
func BenchmarkTrace(b *testing.B) {
	m := benchMachine(b)
	b.Run("make", func(b *testing.B) {
		var r Record
		b.ReportAllocs()
		for b.Loop() {
			r.Take(m)
		}
	})
	b.Run("encode", func(b *testing.B) {
		r, line := Record{}, []byte(nil)
		r.Take(m)
		b.ReportAllocs()
		for b.Loop() {
			line = r.appendRest(r.appendPlace(line[:0]), 0, nil)
		}
		b.SetBytes(int64(len(line)))
	})
	b.Run("note and queue", func(b *testing.B) {
		file, err := Open(filepath.Join(b.TempDir(), "trace.jsonl"), Options{})
		require.NoError(b, err)
		r := Record{}
		r.Take(m)
		b.ReportAllocs()
		for b.Loop() {
			file.Append(&r, file.Note(&r))
		}
	})
	b.Run("read", func(b *testing.B) {
		r := NewRecord(m)
		r.Tool, r.Bytes, r.Tokens = "read", Bytes{Raw: 1000, Sent: 1000, Wire: 1200}, Tokens{300, 300, 0, true}
		line := AppendRecord(nil, &r)
		line = line[:len(line)-1]
		b.SetBytes(int64(len(line)))
		d, replayer := NewDecoder(), ReplayerOf(fsm.Tables()...)
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, d.Decode(line, &r))
			_, err := replayer.Replay(&r, nil)
			require.NoError(b, err)
		}
	})
}
