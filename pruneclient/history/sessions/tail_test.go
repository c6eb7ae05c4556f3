package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// counter counts the bytes that are read.
type counter struct {
	io.ReaderAt
	bytes int64
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.bytes += int64(n)
	return n, err
}

// logNeeds feeds all steps to a log.
func logNeeds(s Session) history.Need {
	var log history.Log
	for _, step := range s.Steps {
		step.AddTo(&log)
	}
	return log.Needs()
}

// turns returns n answers of Claude Code with a command each and its result. Every result is followed by the same in
// another form and by an image, so that a line has more than the given number of bytes.
func turns(n, size int) string {
	var b strings.Builder
	b.WriteString(`{"type":"user","message":{"role":"user","content":"the only prompt"}}` + "\n")
	big := strings.Repeat("iVBORw0KGgo/", size/12)
	for i := range n {
		fmt.Fprintf(&b, `{"type":"assistant","message":{"id":"m%d","content":[{"type":"tool_use","id":"t%d","name":"Bash",`, i, i)
		fmt.Fprintf(&b, `"input":{"command":"run %d"}}]}}`+"\n", i)
		fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d",`, i)
		fmt.Fprintf(&b, `"content":[{"type":"text","text":"result %d \"quoted\""},{"type":"image","source":{"type":"base64","data":"%s"}}]}]},`, i, big)
		fmt.Fprintf(&b, `"toolUseResult":{"stdout":"%s","lines":["%s",{"a":[1,2]}]},"uuid":"u%d"}`+"\n", big, big, i)
	}
	return b.String()
}

func tailOf(text string, now func() time.Time) (*tail, *counter) {
	c := &counter{ReaderAt: strings.NewReader(text)}
	size := int64(len(text))
	return &tail{in: c, end: size, least: max(size-TailBytes, 0), now: now, deadline: now().Add(TailTime)}, c
}

func stopped() time.Time { return time.Unix(1, 0) }

func events(s Session) (n int) {
	for _, step := range s.Steps {
		if step.Kind == Use || step.Kind == Result {
			n++
		}
	}
	return n
}

// TestAHugeLineHidesNothing checks that 60 events are found although every result has an image and a second form of three
// megabytes, that the file is read once, and that the memory does not grow with the lines.
func TestAHugeLineHidesNothing(t *testing.T) {
	text := turns(20, 1<<20)
	require.Greater(t, len(text), 60_000_000)
	r, read := tailOf(text, stopped)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s, err := r.read(logNeeds)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Equal(t, 40, events(s), "all there are")
	assert.Equal(t, "result 19 \"quoted\"", s.Steps[len(s.Steps)-1].Out)
	assert.Equal(t, "the only prompt", s.Steps[0].Text)
	assert.Less(t, read.bytes, 2*int64(len(text))+tailChunk, "once to find the lines, once to read them")
	assert.Less(t, int(after.TotalAlloc-before.TotalAlloc), len(text)/4, "a line is never in memory as a whole")
}

// TestReadingEndsWhereNothingIsMissing checks that of a long session only the end is read, and that the user's message is
// found at its beginning without decoding what lies between.
func TestReadingEndsWhereNothingIsMissing(t *testing.T) {
	text := turns(3000, 1<<10)
	end := `{"type":"user","message":{"role":"user","content":"the last prompt"}}` + "\n"
	near, read := tailOf(text+end+turns(40, 1<<10)[len(turns(0, 0)):], stopped)
	s, err := near.read(logNeeds)
	require.NoError(t, err)
	assert.Equal(t, history.NeedsNothing, logNeeds(s))
	assert.Equal(t, "the last prompt", firstPrompt(s))
	assert.Less(t, read.bytes, int64(1<<20))

	far, read := tailOf(text, stopped)
	s, err = far.read(logNeeds)
	require.NoError(t, err)
	assert.Equal(t, "the only prompt", firstPrompt(s))
	assert.Less(t, len(s.Steps), 400, "of %d", 3*3000)
	assert.EqualValues(t, len(text), read.bytes, "every byte once, those of lines in two chunks, too")
}

// TestUntil checks that a part is found where bytes.Index finds it.
func TestUntil(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		line := make([]byte, random.IntN(20))
		for i := range line {
			line[i] = "abx"[random.IntN(3)]
		}
		for _, part := range []string{"x", "ax", "xb", "aaxb", "abaax"} {
			want := bytes.Index(line, []byte(part))
			if want < 0 {
				want = len(line)
			}
			require.Equal(t, want, until(line, []byte(part), 'x'), "%s in %s", part, line)
		}
	}
}

func firstPrompt(s Session) string {
	for _, step := range s.Steps {
		if step.Kind == User {
			return step.Text
		}
	}
	return ""
}

// TestBoundsOfReading checks that reading ends after TailBytes and after TailTime, with what has been found.
func TestBoundsOfReading(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(file)
	require.NoError(t, err)
	_, err = f.WriteString(turns(1, 10))
	require.NoError(t, err)
	end := turns(5, 10)
	_, err = f.WriteAt([]byte("\n"+end[len(turns(0, 0)):]), 3*TailBytes) // before it, a line of zeros
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	c := &counter{ReaderAt: f}
	r := &tail{in: c, end: info.Size(), least: info.Size() - TailBytes, now: stopped, deadline: stopped().Add(TailTime)}
	s, err := r.read(logNeeds)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Equal(t, 10, events(s))
	assert.LessOrEqual(t, c.bytes, int64(TailBytes+tailChunk))

	ticks := 0
	slow, _ := tailOf(turns(1000, 1<<10), func() time.Time { // a clock that goes on by 10 ms each time
		ticks++
		return time.Unix(0, int64(ticks)*int64(10*time.Millisecond))
	})
	s, err = slow.read(func(Session) history.Need { return history.NeedsEvents })
	require.NoError(t, err)
	assert.Less(t, ticks, 25)
	assert.Positive(t, events(s))
	assert.Less(t, events(s), 25)
}

// TestTailEqualsTheWhole checks for random sessions that the end tells a log the same as the whole does.
func TestTailEqualsTheWhole(t *testing.T) {
	for seed := range uint64(15) {
		random := rand.New(rand.NewPCG(seed, 3))
		var b strings.Builder
		for i := range 20 + random.IntN(400) {
			switch random.IntN(12) {
			case 0:
				fmt.Fprintf(&b, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"prompt %d"}]}}`+"\n", i)
			case 1:
				b.WriteString(`{"type":"system","subtype":"compact_boundary"}` + "\n")
			case 2:
				fmt.Fprintf(&b, `{"type":"attachment","attachment":{"text":"%s"}}`+"\n", strings.Repeat("x", random.IntN(200_000)))
			default:
				fmt.Fprintf(&b, `{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"word %d"},`, i, i)
				fmt.Fprintf(&b, `{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"f%d"}}]}}`+"\n", i, i)
				fmt.Fprintf(&b, `{"type":"user","toolUseResult":{"a":"}{"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}}`+"\n",
					i, strings.Repeat([]string{`\"\\é`, `\ud83d\ude00`, `\u0041b\u4e2d`}[random.IntN(3)], random.IntN(100)*random.IntN(300)))
			}
		}
		whole := claudeFormat.reader("")
		for line := range strings.Lines(b.String()) {
			e, err := claudeFormat.decode([]byte(line))
			require.NoError(t, err)
			whole.entry(e)
		}
		r, _ := tailOf(b.String(), stopped)
		s, err := r.read(logNeeds)
		require.NoError(t, err)
		call := history.ParseCall("Read", map[string]any{"file_path": "f3"})
		var all, end history.Log
		for _, step := range whole.read().Steps {
			step.AddTo(&all)
		}
		for _, step := range s.Steps {
			step.AddTo(&end)
		}
		require.Equal(t, all.Question(call), end.Question(call), "seed %d", seed)
		require.Equal(t, all.Context(), end.Context(), "seed %d", seed)
	}
}

// TestNoMoreOfAResultIsDecodedThanALogKeeps checks what is decoded of a line that is short enough to be read as a whole.
func TestNoMoreOfAResultIsDecodedThanALogKeeps(t *testing.T) {
	for _, piece := range []string{"abc", `\"\\é`, `\ud83d\ude00`, `\u0041b\u4e2d`} {
		r, _ := tailOf(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"f"}}]}}`+"\n"+
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"`+strings.Repeat(piece, 3000)+
			`"}]},"toolUseResult":{}}`+"\n", stopped)
		s, err := r.read(logNeeds)
		require.NoError(t, err)
		out := s.Steps[len(s.Steps)-1].Out
		assert.Greater(t, len(out), history.MostShown)
		assert.LessOrEqual(t, len(out), 3*history.MostShown+10)
	}
}

// TestDistilled checks that a shortened line is valid JSON with the same members, except for the unused one, and with both
// ends of a long string.
func TestDistilled(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 5))
		piece := []string{`\`, `"`, "é", "\n", "a", "\u0001", "{", "😀", "tool"}
		var text strings.Builder
		for text.Len() < random.IntN(4*longString) {
			text.WriteString(strings.Repeat(piece[random.IntN(len(piece))], 1+random.IntN(50)))
		}
		line, err := json.Marshal(map[string]any{
			"a": text.String(), "toolUseResult": map[string]any{"x": []any{text.String(), 1, nil}},
			"z": []any{"toolUseResult", map[string]any{"toolUseResult": "kept"}, 2.5},
		})
		require.NoError(t, err)
		short, err := newDistiller(func() bool { return true }).run(bytes.NewReader(line))
		require.NoError(t, err)
		var got map[string]any
		require.NoError(t, json.Unmarshal(short, &got), "seed %d: %.200s", seed, short)
		assert.Nil(t, got["toolUseResult"])
		assert.Equal(t, []any{"toolUseResult", map[string]any{"toolUseResult": "kept"}, 2.5}, got["z"])
		a, _ := got["a"].(string)
		if a == text.String() {
			continue
		}
		assert.Less(t, len(short), 2*longString)
		assert.Equal(t, text.String()[:4000], a[:4000], "seed %d", seed)
		assert.True(t, strings.HasSuffix(text.String(), a[len(a)-4000:]), "seed %d", seed)
	}
}
