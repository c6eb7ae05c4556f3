package grep

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// rgEvents parses the output of rg --json, as far as it gives the positions of matches. Lines of any length need little
// memory: of an event that arrives in pieces only what stands around the fields is kept.
type rgEvents struct {
	run    *rgRun
	event  []byte
	unread bool // a match event could not be parsed

	path []byte // path of the latest match, as printed by rg and relative to the root
	rel  string
	head []byte // beginning of an event of a match in the same file
}

const (
	eventBytes = 256 << 10
	// fieldBytes are kept after each key and at the end: more than two fields with their numbers.
	fieldBytes = 256
)

func (e *rgEvents) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		p = rest
		if len(e.event) > 0 || !ended {
			e.event = append(e.event, part...)
			part = e.event
		}
		if !ended {
			e.shrink()
			break
		}
		err := e.take(part)
		e.event = e.event[:0]
		if err != nil {
			return 0, err
		}
	}
	return written, nil
}

// shrink drops from a long event what stands between the latest key and its end so far. A space takes its place, so that
// no key comes about there.
func (e *rgEvents) shrink() {
	if len(e.event) < eventBytes {
		return
	}
	at := 0
	for _, key := range [][]byte{linesKey, lineKey, matches, startKey} {
		i := bytes.Index(e.event[at:], key)
		if i < 0 {
			break
		}
		at += i + len(key)
	}
	if end := len(e.event) - fieldBytes; at > 0 && at+fieldBytes < end {
		e.event = append(append(e.event[:at+fieldBytes], ' '), e.event[end:]...)
	}
}

var (
	matchEvent = []byte(`{"type":"match","data":{"path":`)
	endEvent   = []byte(`{"type":"end","data":{"path":`)
	noNul      = []byte(`"binary_offset":null`)
)

// take passes on a match, and what rg knows of a file at its end. A match that cannot be
// parsed ends the search, because without it the result would look complete.
func (e *rgEvents) take(event []byte) error {
	if rest, ok := bytes.CutPrefix(event, endEvent); ok {
		if e.rel != "" && bytes.HasPrefix(rest, e.path) && bytes.Contains(rest, noNul) {
			e.run.found.isText(e.rel)
		}
		return nil
	}
	rest, ok := bytes.CutPrefix(event, matchEvent)
	if !ok {
		return nil
	}
	if after, same := bytes.CutPrefix(event, e.head); same && len(e.head) > 0 {
		rest = after
	} else {
		rest, ok = e.begin(rest)
	}
	h, parsed := parseMatch(rest)
	if !ok || !parsed {
		e.unread = true
		return process.ErrEnough
	}
	if e.rel == "" {
		return nil
	}
	return e.run.found.add(e.rel, h)
}

// begin reads the path of the first match in a file, as text, or as bytes if it is not valid UTF-8. It returns what comes
// after it.
func (e *rgEvents) begin(event []byte) (rest []byte, ok bool) {
	path, rest, ok := bytes.Cut(event, linesKey)
	var name struct {
		Text  string
		Bytes []byte
	}
	if !ok || json.Unmarshal(path, &name) != nil || name.Text == "" && name.Bytes == nil {
		return nil, false
	}
	e.path, e.rel = append(e.path[:0], path...), e.run.inside(name.Text+string(name.Bytes))
	e.head = append(append(append(e.head[:0], matchEvent...), path...), linesKey...)
	return rest, true
}

// The keys of the fields of a match event. They cannot occur within a string, where a
// backslash precedes every quote.
var (
	linesKey  = []byte(`,"lines":`)
	lineKey   = []byte(`"line_number":`)
	offsetKey = []byte(`,"absolute_offset":`)
	matches   = []byte(`"submatches":[{`)
	startKey  = []byte(`"start":`)
)

// parseMatch returns the position that a match event gives after its path.
func parseMatch(event []byte) (h hit, ok bool) {
	h.start, h.at = -1, -1
	_, rest, ok := bytes.Cut(event, lineKey)
	if !ok {
		return h, false
	}
	h.line, rest = number(rest)
	if after, ok := bytes.CutPrefix(rest, offsetKey); ok {
		h.at, rest = number(after)
	}
	if _, rest, ok = bytes.Cut(rest, matches); ok {
		if _, rest, ok = bytes.Cut(rest, startKey); ok {
			h.start, _ = number(rest)
		}
	}
	return h, h.line > 0
}

// number parses the decimal digits at the beginning of a text.
func number(text []byte) (n int, rest []byte) {
	for i, ch := range text {
		if ch < '0' || ch > '9' {
			return n, text[i:]
		}
		n = n*10 + int(ch-'0')
	}
	return n, nil
}
