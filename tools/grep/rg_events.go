package grep

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-pruner/mcp-pruner/tools/process"
)

// rgEvents parses the output of rg --json. A complete event is parsed in place. If an event
// arrives in pieces, only the parts with the position of the match are kept: the beginning
// of long strings, and of a long event everything before the second match in its line. So
// lines of any length need little memory.
type rgEvents struct {
	run    *rgRun
	event  []byte
	quoted bool // inside a string
	escape int  // characters of an escape sequence still to come
	whole  bool // that escape sequence is kept, not dropped
	length int  // of the string so far
	unread bool // a match event could not be parsed

	path []byte // path of the latest match, as printed by rg and relative to the root
	rel  string
	head []byte // beginning of an event of a match in the same file
}

const (
	eventString = 64 << 10
	eventBytes  = 256 << 10
)

func (e *rgEvents) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		if len(e.event) == 0 {
			if end := bytes.IndexByte(p, '\n'); end >= 0 {
				if err := e.take(p[:end]); err != nil {
					return 0, err
				}
				p = p[end+1:]
				continue
			}
		}
		if n := e.plain(p); n > 0 {
			p = p[n:]
			continue
		}
		ch := p[0]
		p = p[1:]
		if ch == '\n' {
			err := e.take(e.event)
			e.event, e.quoted, e.escape = e.event[:0], false, 0
			if err != nil {
				return 0, err
			}
			continue
		}
		if e.keep(ch) && len(e.event) < eventBytes {
			e.event = append(e.event, ch)
		}
	}
	return written, nil
}

// plain reads the part of a string before its next quote, backslash or line end. A line end
// always ends the event.
func (e *rgEvents) plain(p []byte) int {
	if !e.quoted || e.escape > 0 {
		return 0
	}
	n := bytes.IndexByte(p, '"')
	if n < 0 {
		n = len(p)
	}
	for _, end := range []byte(`\` + "\n") {
		if i := bytes.IndexByte(p[:n], end); i >= 0 {
			n = i
		}
	}
	room := max(0, min(n, eventString-e.length, eventBytes-len(e.event)))
	e.event = append(e.event, p[:room]...)
	e.length += n
	return n
}

// keep tracks strings and their escapes, and drops the excess of a string that is too long.
func (e *rgEvents) keep(ch byte) bool {
	if !e.quoted {
		e.quoted, e.length = ch == '"', 0
		return true
	}
	fits := e.length < eventString
	switch {
	case e.escape > 0:
		// An incomplete escape would swallow the quote after it.
		fits = e.whole
		e.escape--
		if ch == 'u' { // not a hexadecimal digit, so it is the first character of the escape
			e.escape = 4
		}
	case ch == '\\':
		e.escape, e.whole = 1, fits
	case ch == '"':
		e.quoted = false
		return true
	}
	e.length++
	return fits
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
	} else if rest, ok = e.begin(rest); !ok {
		return e.fail()
	}
	h, ok := parseMatch(rest)
	if !ok {
		return e.fail()
	}
	if e.rel == "" {
		return nil
	}
	return e.run.found.add(e.rel, h)
}

func (e *rgEvents) fail() error {
	e.unread = true
	return process.ErrEnough
}

// begin reads the path of the first match in a file and returns what comes after it.
func (e *rgEvents) begin(event []byte) (rest []byte, ok bool) {
	path, rest, ok := bytes.Cut(event, linesKey)
	if !ok {
		return nil, false
	}
	name, ok := decodePath(path)
	if !ok {
		return nil, false
	}
	e.path, e.rel = append(e.path[:0], path...), e.run.inside(name)
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

// parseMatch returns the position that a match event gives after its path. A truncated
// event ends after its first submatch.
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

// decodePath decodes a path printed by rg: as text, or as bytes if it is not valid UTF-8.
func decodePath(raw []byte) (string, bool) {
	var path struct {
		Text  string
		Bytes []byte
	}
	if json.Unmarshal(raw, &path) != nil {
		return "", false
	}
	name := path.Text + string(path.Bytes)
	return name, name != ""
}
