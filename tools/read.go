package tools

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/schema"
)

const readDescription = `Read a text file, or with a prn_ id an earlier output that was pruned or cut. With context_focus_question ("how are retries configured") lines that do not answer it are left out: ask when the file is long or unknown and one thing is wanted, not before editing it or when it is short. Left-out lines and the rest of a cut file are read with start_line and end_line.`

const readSchema = `{
  "type": "object",
  "properties": {
    "file_path": {"type": "string", "description": "Path inside the root, or prn_ id."},
    "start_line": {"type": "integer", "minimum": 1},
    "end_line": {"type": "integer", "minimum": 1, "description": "Inclusive."},
    "encoding": {"type": "string", "enum": ["utf-8"], "default": "utf-8"},
    "max_output_bytes": {"type": "integer", "minimum": 1024},
    "context_focus_question": {"type": "string", "maxLength": 1000}
  },
  "required": ["file_path"],
  "additionalProperties": false
}`

// readLimits are the checks beyond the schema. The encoding is a literal, so that any other
// value gives the same issue, whatever its type.
const readLimits = `{"properties": {
  "file_path": {"minLength": 1, "not": {"pattern": "\u0000"}},
  "start_line": {"maximum": 2147483647},
  "end_line": {"maximum": 2147483647},
  "encoding": {"type": null, "enum": null, "const": "utf-8"},
  "max_output_bytes": {"maximum": 10485760},
  "context_focus_question": {"minLength": 1}
}}`

func newRead(b *base) Tool {
	return b.tool(Tool{Name: "read", Description: readDescription, ReadOnly: true}, readSchema, readLimits, checkRead)
}

type readCall struct {
	base  *base
	given string // file_path as the client wrote it
	rel   string // relative to the root
	first int    // 1-based
	last  int    // inclusive
	lines bool   // the call asks for a range
	limit int    // bytes
	focus string

	explicit bool // the call sets its own output limit
}

func checkRead(b *base, r rules, args map[string]any) (Call, []Issue) {
	a := r.check(args, b.alias("file_path", "path"))
	c := &readCall{base: b, given: a.text("file_path")}
	if c.given != "" {
		c.rel = b.pathArg(a, "file_path", ".", c.given)
	}
	c.first = a.integer("start_line", 1)
	c.last = a.integer("end_line", maxLineNumber)
	if c.first > c.last {
		a.bad("start_line", schema.Custom)
	}
	c.lines = a.has("start_line") || a.has("end_line")
	c.limit = a.outputCap()
	c.explicit = a.has("end_line") || a.has("max_output_bytes")
	c.focus = a.focus()
	if issues := a.done(); len(issues) > 0 {
		return nil, issues
	}
	return c, nil
}

func (c *readCall) FocusQuestion() string { return c.focus }

// originalID matches the ids of originals: short ones from the pipeline, a hook or the proxy, long ones from prune_text.
var originalID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^prn_[0-9a-f]{8}(?:[0-9a-f]{24})?$`) })

// isOriginal reports whether a path of a call is the id of an original rather than a file.
func (b *base) isOriginal(given string) bool {
	return b.Original != nil && originalID().MatchString(given)
}

// notKept follows the id of an original that nothing is stored under.
const notKept = ": this output is not kept any more"

// original reads the output stored under the id as if it were a file.
func (c *readCall) original(ctx context.Context) (*readOutput, bool, error) {
	text, found, err := c.base.Original(ctx, c.given)
	if err != nil || !found {
		return nil, false, err
	}
	out, err := c.content(ctx, strings.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, true, err
	}
	out.original = true
	return out, true, nil
}

func (c *readCall) Run(ctx context.Context) (Output, error) {
	start := c.base.Now()
	if c.base.isOriginal(c.given) {
		out, found, err := c.original(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, c.failed(err)
		case found:
			out.Duration = c.base.since(start)
			return out, nil
		}
	}
	f, size, err := c.base.root.Open(c.rel)
	if err != nil {
		return nil, c.failed(err)
	}
	out, err := c.contentOrEnd(ctx, f, size)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, c.failed(err)
	}
	out.Duration = c.base.since(start)
	return out, nil
}

// sizelessPatience is the longest time that a read of a file with size 0 may take. The kernel generates such files, and
// some of them never end, or wait for an event.
const sizelessPatience = 10 * time.Second

var (
	errEndless = fmt.Errorf("the file has no size and no end after %s, as some files of the kernel; try bash with a timeout", sizelessPatience)
	errStuck   = fmt.Errorf("%d reads of files without a size or an end are under way; try bash with a timeout", mostSizeless)
)

// contentOrEnd reads and closes a file. A file without a size is given up when ctx ends or its time is over. Closing it
// wakes a read that waits for data; another read keeps its slot until the kernel releases it.
func (c *readCall) contentOrEnd(ctx context.Context, f io.ReadCloser, size int64) (*readOutput, error) {
	if size > 0 {
		defer f.Close()
		return c.content(ctx, f, size)
	}
	limited, stop := context.WithTimeoutCause(ctx, sizelessPatience, errEndless)
	defer stop()
	select {
	case c.base.sizeless <- struct{}{}:
	case <-limited.Done():
		_ = f.Close()
		return nil, cmp.Or(ctx.Err(), errStuck)
	}
	var out *readOutput
	var err error
	done := make(chan struct{})
	go func() {
		defer func() { <-c.base.sizeless }()
		defer close(done)
		out, err = c.content(limited, ending{limited, f}, size)
	}()
	select {
	case <-done:
		_ = f.Close()
		if limited.Err() != nil {
			return nil, context.Cause(limited)
		}
		return out, err
	case <-limited.Done():
		go f.Close() // it may block until the read ends
		return nil, context.Cause(limited)
	}
}

// ending is a reader that ends with its context.
type ending struct {
	ctx context.Context
	io.Reader
}

func (r ending) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// countLimit is the file size above which the lines after a cut are not counted: that would
// take seconds, and the exact number is rarely needed.
const countLimit = 2 << 30

func (c *readCall) content(ctx context.Context, f io.Reader, size int64) (*readOutput, error) {
	buffer := files.BufferFor(size)
	text, encoding, err := decoded(f, size, buffer)
	if err != nil {
		return nil, err
	}
	sink := &files.Sink{Limit: c.limit}
	if encoding == "" && !c.lines {
		sink.Text = make([]byte, 0, min(size, int64(c.limit)))
	}
	lines := &lineRange{first: c.first, last: c.last, line: 1, to: sink}
	count := size <= countLimit
	for buf := make([]byte, buffer); ; {
		n, err := text.Read(buf)
		lines.add(buf[:n])
		if err == io.EOF {
			count = true // all of the file was read anyway
			break
		}
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !count && (sink.Truncated || lines.line > c.last) {
			break
		}
	}
	sink.End()
	out := c.output(sink, lines, count)
	out.decoded, out.replaced = encoding, sink.Replaced
	return out, nil
}

// decoded returns a file as UTF-8, with the encoding from which it was decoded.
func decoded(f io.Reader, size int64, buffer int) (text io.Reader, from string, err error) {
	decoded, from := files.DecodedWith(f, buffer)
	head, _ := decoded.Peek(files.Sniffed)
	switch {
	case bytes.IndexByte(head, 0) >= 0:
		return nil, "", &binaryError{size}
	case from == files.Latin1:
		return files.FromLatin1(decoded), from, nil
	}
	return decoded, from, nil
}

func (c *readCall) output(sink *files.Sink, lines *lineRange, counted bool) *readOutput {
	out := &readOutput{
		Tool: "read", FilePath: c.given, Encoding: "utf-8",
		Content: string(sink.Text), Truncated: sink.Truncated, Bytes: len(sink.Text),
		limit: c.limit, first: c.first, explicit: c.explicit, grep: c.base.offers("grep"),
	}
	total := lines.total()
	if counted && (c.lines || out.Truncated) {
		out.TotalLines = &total
	}
	if out.Truncated {
		// The cut line is to be read again as a whole, unless it is the only line: then
		// reading continues with the next line.
		whole := bytes.Count(sink.Text, []byte("\n"))
		if next := c.first + max(whole, 1); !counted || next <= total {
			out.NextStartLine = &next
		}
	}
	return out
}

func (c *readCall) failed(err error) error {
	e := &Error{Message: files.Quoted(c.given) + ": " + files.PlainReason(err)}
	var binary *binaryError
	switch {
	case errors.As(err, &binary):
		e.Code = "io_error"
	case errors.Is(err, fs.ErrNotExist), files.IsAbsent(err):
		e.Code = "not_found"
		if c.base.isOriginal(c.given) {
			e.Message = c.given + notKept
		}
	case errors.Is(err, fs.ErrPermission):
		e.Code = "permission_denied"
	case errors.Is(err, files.ErrOutside), errors.Is(err, files.ErrNotRegular), files.IsLoop(err):
		e.Code = "invalid_path"
	default:
		e.Code = "io_error"
	}
	return e
}

type binaryError struct{ size int64 }

func (e *binaryError) Error() string {
	return fmt.Sprintf("not UTF-8 text (binary, %d bytes)", e.size)
}

// lineRange passes on the lines first..last of its input and counts all lines.
type lineRange struct {
	first, last int
	line        int  // number of the line of the next byte, 1-based
	open        bool // the last byte was not a line end
	to          io.Writer
}

func (l *lineRange) add(p []byte) {
	if len(p) == 0 {
		return
	}
	l.open = p[len(p)-1] != '\n'
	ends := bytes.Count(p, []byte("\n"))
	switch {
	case l.line > l.last, l.line+ends < l.first:
	case l.line >= l.first && l.line+ends <= l.last:
		_, _ = l.to.Write(p)
	default:
		l.addPart(p)
	}
	l.line += ends
}

// addPart passes on the part of a piece that lies within the range.
func (l *lineRange) addPart(p []byte) {
	line := l.line
	for len(p) > 0 && line <= l.last {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		if line >= l.first {
			_, _ = l.to.Write(p[:end])
		}
		p = p[end:]
		line++
	}
}

// total returns the number of lines so far; the last one need not have a line end.
func (l *lineRange) total() int {
	if l.open {
		return l.line
	}
	return l.line - 1
}
