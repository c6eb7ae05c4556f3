package fsm

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func benchMachine(b *testing.B) *Machine {
	b.Helper()
	m := MustCompile(RequestTable()).New("req_0123456789abcdef", Hooks{})
	for _, trigger := range []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion} {
		require.NoError(b, m.Fire(b.Context(), trigger, Facts{"raw_bytes": 1000, "tool": "read"}))
	}
	return m
}

// BenchmarkTrace is what a record costs its request: making it, writing it.
func BenchmarkTrace(b *testing.B) {
	m := benchMachine(b)
	ahead, _ := m.Ahead(Written)
	b.Run("make", func(b *testing.B) {
		var r Record
		b.ReportAllocs()
		for b.Loop() {
			r.Take(m, false, ahead)
		}
	})
	b.Run("encode", func(b *testing.B) {
		r, line := Record{}, []byte(nil)
		r.Take(m, false, ahead)
		b.ReportAllocs()
		for b.Loop() {
			line = r.appendRest(r.appendPlace(line[:0]), 0)
		}
		b.SetBytes(int64(len(line)))
	})
	b.Run("write", func(b *testing.B) {
		file, err := OpenTrace(filepath.Join(b.TempDir(), "trace.jsonl"), 0, nil)
		require.NoError(b, err)
		r := Record{}
		r.Take(m, false, ahead)
		b.ReportAllocs()
		for b.Loop() {
			file.Append(&r)
		}
	})
	b.Run("read", func(b *testing.B) {
		r := NewRecord(m, ahead)
		r.Tool, r.Bytes, r.Tokens = "read", TraceBytes{1000, 1000, 1200}, TraceTokens{300, 300, 0, true}
		line := AppendRecord(nil, &r)
		line = line[:len(line)-1]
		b.SetBytes(int64(len(line)))
		d, replayer := NewDecoder(), ReplayerOf(Tables()...)
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, d.Decode(line, &r))
			require.NoError(b, replayer.Replay(&r))
		}
	})
}
