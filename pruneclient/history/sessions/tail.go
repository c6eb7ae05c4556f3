package sessions

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// How far back a running session's transcript is read. Replay has only the bounds of [history.Log]: the ones here are
// reached where 60 events or the user's last message are further back than in any recorded session.
const (
	TailBytes = 64 << 20 // bytes from the end

	tailChunk = 256 << 10 // bytes of one read
	tailLook  = 64 << 10  // bytes of lines, or a quarter of those read, after which it is looked whether something is missing
	maxHeld   = 16 << 20  // bytes of decoded lines, after they have been shortened
)

// TailTime is the longest time for reading. Tests raise it for slow machines.
var TailTime = 200 * time.Millisecond

// Tail reads the steps at the end of a running session's transcript. It reads backwards until the steps have all that a
// pruner is told, according to needs, or to the bounds. agent is the id of a sub-agent; "" selects the main thread of a
// Claude Code session.
func Tail(path, client, agent string, needs func(Session) history.Need) (Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return Session{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Session{}, err
	}
	t := &tail{in: f, end: info.Size(), least: max(info.Size()-TailBytes, 0), client: client, agent: agent, deadline: time.Now().Add(TailTime), now: time.Now}
	return t.read(needs)
}

// tail reads lines from the end of a file.
type tail struct {
	in            io.ReaderAt
	client, agent string
	deadline      time.Time
	now           func() time.Time

	end    int64 // offset of the end of what has not been read
	least  int64 // offset at which reading ends
	chunk  []byte
	breaks []int64    // line breaks in the chunk, but for those that have been passed
	at     int64      // offset of the chunk
	found  []any      // decoded lines in reverse order
	held   int        // bytes of the lines of found
	short  *distiller // of long lines, for which the time may end
	plain  *distiller // of others
}

func (t *tail) format() format { return formatOf(agent.Named(t.client)) }

func (t *tail) read(needs func(Session) history.Need) (Session, error) {
	need := history.NeedsEvents
	for need == history.NeedsEvents {
		for look := t.held + max(tailLook, t.held/4); t.held < look; {
			line, err := t.back()
			if err != nil || line == nil {
				return t.session(), err
			}
			t.hold(line)
		}
		need = needs(afterUnknown(t.session()))
	}
	for need == history.NeedsPrompt {
		line, err := t.back()
		if err != nil || line == nil {
			break
		}
		if !t.format().mayBePrompt(line) {
			continue
		}
		before := len(t.found)
		t.hold(line)
		if hasPrompt(t.steps(t.found[before:])) {
			break
		}
		t.found = t.found[:before]
	}
	return t.session(), nil
}

// hold decodes and keeps a line. It skips an invalid one: the last line of a running session may be incomplete.
func (t *tail) hold(line []byte) {
	if _, value, has := bytes.Cut(line, beforeUnused); has && !bytes.HasPrefix(value, []byte("null")) { // a distilled line has null
		if t.plain == nil {
			t.plain = newDistiller(func() bool { return true })
			t.plain.most = history.MostShown
		}
		short, err := t.plain.run(bytes.NewReader(line))
		if err != nil {
			return
		}
		line = short
	}
	t.held += len(line) + 1
	e, err := t.format().decode(line)
	if err == nil {
		t.found = append(t.found, e)
	}
}

// session returns the steps of the lines read so far.
func (t *tail) session() Session { return t.steps(t.found) }

// afterUnknown leaves out the steps up to a result whose call is not among them: it is not known what it is a result of.
func afterUnknown(s Session) Session {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Kind == Result && s.Steps[i].Tool == "" {
			s.Steps = s.Steps[i+1:]
			break
		}
	}
	return s
}

// steps converts entries in reverse order.
func (t *tail) steps(found []any) Session {
	r := t.format().reader(t.agent)
	for _, e := range slices.Backward(found) {
		r.entry(e)
	}
	return *r.read()
}

func hasPrompt(s Session) bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Kind == User })
}

// back returns the line before those returned so far, without its line break and the strings that are never used, or
// nil at a bound. The line is valid until the next call.
func (t *tail) back() ([]byte, error) {
	for t.end > t.least && t.held < maxHeld && t.now().Before(t.deadline) {
		start, err := t.lineStart()
		if err != nil {
			return nil, err
		}
		from, to := start, t.end
		t.end = max(start-1, 0) // before the line break
		switch {
		case start == t.least && start > 0:
			return nil, nil // the line begins before the bound
		case to == from:
			continue
		case to-from > longString:
			return t.distilled(from, to)
		}
		return t.slice(from, to)
	}
	return nil, nil
}

// lineStart returns the offset at which the line that ends at t.end begins.
func (t *tail) lineStart() (int64, error) {
	for to := t.end; to > t.least; {
		if to <= t.at || to > t.at+int64(len(t.chunk)) {
			if err := t.load(to); err != nil {
				return 0, err
			}
		}
		for last := len(t.breaks) - 1; last >= 0; last-- {
			if i := t.breaks[last]; i < to-t.at {
				return t.at + i + 1, nil
			}
			t.breaks = t.breaks[:last]
		}
		to = t.at
	}
	return t.least, nil
}

// load reads the chunk that ends at an offset. Behind it stays the rest of the line that goes on there, unless the line is too
// long to be used as a whole.
func (t *tail) load(to int64) error {
	var rest []byte
	if size := t.end - to; to == t.at && size <= longString {
		rest = t.chunk[:size]
	}
	t.at = max(to-tailChunk, t.least)
	t.chunk = slices.Grow(t.chunk[:0], tailChunk+longString)[:to-t.at+int64(len(rest))]
	copy(t.chunk[to-t.at:], rest)
	chunk := t.chunk[:to-t.at]
	_, err := t.in.ReadAt(chunk, t.at)
	if err == io.EOF {
		err = nil
	}
	t.breaks = t.breaks[:0]
	for i := 0; err == nil; i++ { // forwards: a search backwards takes the bytes one by one
		next := bytes.IndexByte(chunk[i:], '\n')
		if next < 0 {
			break
		}
		i += next
		t.breaks = append(t.breaks, int64(i))
	}
	return err
}

// slice returns a short part of the file.
func (t *tail) slice(from, to int64) ([]byte, error) {
	if from >= t.at && to <= t.at+int64(len(t.chunk)) {
		return t.chunk[from-t.at : to-t.at], nil
	}
	line := make([]byte, to-from)
	_, err := t.in.ReadAt(line, from)
	if err == io.EOF {
		err = nil
	}
	return line, err
}

// distilled returns a long line without what is never used.
func (t *tail) distilled(from, to int64) ([]byte, error) {
	if t.short == nil {
		t.short = newDistiller(func() bool { return t.now().Before(t.deadline) })
	}
	line, err := t.short.run(io.NewSectionReader(t.in, from, to-from))
	if errors.Is(err, errNoTime) {
		return nil, nil
	}
	return line, err
}
