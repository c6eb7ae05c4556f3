package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"
)

// findWithRg searches with ripgrep. It sorts by path, so that a search that stops
// early stops at the same match every time.
func (b *base) findWithRg(ctx context.Context, dir string, s search, found *collector) error {
	path, err := b.LookPath("rg")
	if err != nil {
		return notInstalled("rg")
	}
	// rg names no position for an empty match at the very end of a file.
	if p, err := s.translate(); err == nil {
		found.locate = locator(p)
	}
	args := []string{"--json", "--no-config", "--no-ignore-global", "--no-ignore-messages", "--no-mmap", "--sort", "path"}
	if s.Fixed {
		args = append(args, "-F")
	}
	if s.IgnoreCase {
		args = append(args, "-i")
	}
	if s.Mode == modeFiles {
		args = append(args, "--max-count", "1")
	}
	if s.Glob != "" {
		args = append(args, "--glob="+s.Glob)
	}
	args = append(args, "-e", s.Pattern, "--")
	if len(s.Paths) == 0 {
		return nil
	}
	for _, p := range s.Paths {
		args = append(args, filepath.Join(b.real, p.real))
	}
	events := &rgEvents{real: b.real, found: found}
	_, err = b.engine(ctx, process{path: path, args: args, dir: dir, stdout: events}, found)
	unended := err == nil && len(events.event) > 0
	if unended || events.unread && (err == nil || errors.Is(err, errEnough)) {
		return &engineError{2, "rg printed a match that cannot be read"}
	}
	return err
}

// engine runs a search process to its end and settles what it found. It returns
// what the process said on standard error although nothing failed.
func (b *base) engine(ctx context.Context, p process, found *collector) (string, error) {
	said := newComplaints()
	p.stderr, p.env, p.timeout = said, b.engineEnv(), maxTimeoutMS*time.Millisecond
	code, err := p.run(ctx)
	if errors.Is(err, errEnough) {
		return "", errEnough
	}
	if err != nil {
		return "", err
	}
	if code > 1 && !(code == 2 && said.harmless()) {
		return "", &engineError{code, said.text("search failed")}
	}
	return said.text(""), found.settle()
}

// rgEvents reads what rg --json prints. Only where a match is gets kept: of long
// strings the beginning, and of a long event what comes before the second match
// in its line, so that lines of any length need little memory.
type rgEvents struct {
	real   string
	found  *collector
	event  []byte
	quoted bool // inside a string
	escape int  // characters of an escape sequence still to come
	whole  bool // that sequence is kept, not dropped
	length int  // of the string so far
	unread bool // there was a match that made no sense
}

const (
	eventString = 64 << 10
	eventBytes  = 256 << 10
)

func (e *rgEvents) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		if n := e.plain(p); n > 0 {
			p = p[n:]
			continue
		}
		ch := p[0]
		p = p[1:]
		if ch == '\n' {
			err := e.take()
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

// plain takes what a string holds before its next quote, backslash or line end,
// which is the end of an event wherever it is.
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

// keep follows strings and their escapes, and drops what makes a string too long.
func (e *rgEvents) keep(ch byte) bool {
	if !e.quoted {
		e.quoted, e.length = ch == '"', 0
		return true
	}
	fits := e.length < eventString
	switch {
	case e.escape > 0:
		// Half an escape would take the quote behind it along.
		fits = e.whole
		e.escape--
		if ch == 'u' { // no hexadecimal digit, so it can only be the first
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

var matchEvent = []byte(`{"type":"match",`)

// take passes on a match. One that cannot be read ends the search: without it the
// result would look complete.
func (e *rgEvents) take() error {
	if !bytes.HasPrefix(e.event, matchEvent) {
		return nil
	}
	h, ok := parseMatch(e.event)
	if !ok {
		e.unread = true
		return errEnough
	}
	rel, err := filepath.Rel(e.real, h.file)
	if err != nil || !local(rel) {
		return nil
	}
	h.file = rel
	return e.found.add(h)
}

// rgPath is a path as rg prints it: as text, or as bytes when it is no UTF-8.
type rgPath struct {
	Text  string
	Bytes []byte
}

func (p rgPath) String() string { return p.Text + string(p.Bytes) }

// parseMatch reads a match event.
func parseMatch(event []byte) (hit, bool) {
	if len(event) >= eventBytes {
		return parseCutMatch(event)
	}
	var match struct {
		Data struct {
			Path       rgPath
			Line       int `json:"line_number"`
			Submatches []struct{ Start int }
		}
	}
	if json.Unmarshal(event, &match) != nil {
		return hit{}, false
	}
	h := hit{file: match.Data.Path.String(), line: match.Data.Line, start: -1}
	if len(match.Data.Submatches) > 0 {
		h.start = match.Data.Submatches[0].Start
	}
	return h, h.file != "" && h.line > 0
}

// parseCutMatch reads a match event as far as its first submatch; what comes
// after is missing.
func parseCutMatch(event []byte) (hit, bool) {
	h := hit{start: -1}
	dec := json.NewDecoder(bytes.NewReader(event))
	if !seek(dec, "data") || !open(dec) {
		return h, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		switch key {
		case "path":
			var path rgPath
			err = dec.Decode(&path)
			h.file = path.String()
		case "line_number":
			err = dec.Decode(&h.line)
		case "submatches":
			var first struct{ Start int }
			if open(dec) && dec.More() && dec.Decode(&first) == nil {
				h.start = first.Start
			}
			return h, h.file != "" && h.line > 0
		default:
			var other json.RawMessage
			err = dec.Decode(&other)
		}
		if err != nil {
			break
		}
	}
	return h, h.file != "" && h.line > 0
}

// open enters an object or a list.
func open(dec *json.Decoder) bool {
	t, err := dec.Token()
	_, ok := t.(json.Delim)
	return err == nil && ok
}

// seek enters an object and goes to the value of a key.
func seek(dec *json.Decoder, key string) bool {
	if !open(dec) {
		return false
	}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return false
		}
		if t == key {
			return true
		}
		var other json.RawMessage
		if dec.Decode(&other) != nil {
			return false
		}
	}
	return false
}
