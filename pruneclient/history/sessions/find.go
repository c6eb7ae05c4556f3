package sessions

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

// Files returns the transcripts at paths: files themselves, "-" as it is, and for directories what is below them, in order:
// *.jsonl, *.jsonl.gz, documents of clients, and opencode's databases and sessions.
func Files(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if path == "-" {
			files = append(files, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isTranscript(name) {
				files = append(files, name)
			}
			return nil // an unreadable directory is skipped
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

func isTranscript(path string) bool {
	name := filepath.Base(path)
	return namesDatabase(name) || strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".jsonl.gz") || opencodeFile(path) || documentOf(name) != nil
}

// namesDatabase reports whether a client's databases have names such as this one.
func namesDatabase(name string) bool {
	return slices.ContainsFunc(agent.Clients, func(c *agent.Client) bool {
		ok, _ := filepath.Match(c.Transcripts.Database, name)
		return ok && name != ""
	})
}

// maxLine is the length in bytes of the longest line that is read; a longer one is skipped.
const maxLine = 256 << 20

// ReadFile calls Read for a file, and reads documents of clients and the files of opencode.
func ReadFile(ctx context.Context, path string, yield func(Session) error) error {
	document := documentOf(path)
	switch {
	case document != nil:
		return readDocument(document, path, withCalls(yield))
	case opencodeFile(path):
		return readOpencodeFile(path, withCalls(yield))
	case opencodeDatabase(path):
		return readOpencodeDatabase(ctx, path, withCalls(yield))
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return Read(ctx, path, f, yield)
}

// Read reads a stream, which may be compressed by gzip and whose format it recognises by the first lines, and calls yield
// for each session with at least one model call. It stops at the first error of yield and returns it. Lines that cannot be
// read are skipped; the error at the end names them. The path is for messages.
func Read(ctx context.Context, path string, f io.Reader, yield func(Session) error) error {
	plain := bufio.NewReader(f)
	var in io.Reader = plain
	if head, _ := plain.Peek(2); string(head) == "\x1f\x8b" {
		var err error
		if in, err = gzip.NewReader(plain); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	r := fileReader{path: path, yield: withCalls(yield)}
	lines := lineReader{in: bufio.NewReaderSize(in, 64<<10), max: maxLine}
	if err := lines.each(ctx, func(n int, line []byte) error {
		r.n = n
		if line == nil {
			return r.skip(fmt.Errorf("longer than %d MiB", maxLine>>20))
		}
		return r.line(line)
	}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return errors.Join(r.end(), r.skipped())
}

// withCalls leaves out sessions without a model call.
func withCalls(yield func(Session) error) func(Session) error {
	return func(s Session) error {
		if !slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Kind == Call }) {
			return nil
		}
		return yield(s)
	}
}

// lineReader reads lines of at most max bytes.
type lineReader struct {
	in   *bufio.Reader
	max  int
	line []byte // the last one
}

// each passes on the lines that are not empty, with their numbers from 1; nil stands for a line that is too long.
func (r *lineReader) each(ctx context.Context, take func(n int, line []byte) error) error {
	for n := 1; ; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, long, end := r.next()
		if long {
			line = nil
		}
		if len(line) > 0 || long {
			if err := take(n, line); err != nil {
				return err
			}
		}
		if end == io.EOF {
			return nil
		}
		if end != nil {
			return end
		}
	}
}

// next reads a line, which it returns without the white space around it unless it is too long. err is io.EOF after the
// last line.
func (r *lineReader) next() (line []byte, long bool, err error) {
	r.line = r.line[:0]
	for {
		part, err := r.in.ReadSlice('\n')
		if long = long || len(r.line)+len(part) > r.max; !long {
			r.line = append(r.line, part...)
		}
		if err != bufio.ErrBufferFull {
			return bytes.TrimSpace(r.line), long, err
		}
	}
}

// fileReader recognises the format of a file and collects the lines of one session.
type fileReader struct {
	path   string
	yield  func(Session) error
	format format
	reader reader // nil until the format is known
	n      int
	bad    []error // one for each line that was skipped
}

var errFormat = fmt.Errorf("no transcript of %s, and no sessions as JSON lines", strings.Join(agent.Titles(agent.With(hasTranscripts)), ", "))

func hasTranscripts(c *agent.Client) bool { return c.Transcripts.Folder != "" }

// line adds one line. It skips an invalid one, because the last line of a running session may be incomplete.
func (r *fileReader) line(line []byte) error {
	if r.reader != nil {
		if e, err := r.format.decode(line); err == nil {
			r.reader.entry(e)
		}
		return nil
	}
	var head struct {
		Steps     json.RawMessage `json:"steps"`
		AgentID   string          `json:"agentId"`
		Sidechain bool            `json:"isSidechain"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return r.skip(errFormat)
	}
	if head.Steps != nil {
		s, err := parseCollected(line)
		if err != nil {
			return r.skip(err)
		}
		return r.yield(s)
	}
	client := clientOfLine(line)
	if client == nil {
		return r.skip(errFormat)
	}
	sub := ""
	if head.Sidechain {
		sub = cmp.Or(head.AgentID, "agent")
	}
	r.format = formatOf(client)
	r.reader = r.format.reader(sub)
	return r.line(line)
}

func (r *fileReader) skip(why error) error {
	r.bad = append(r.bad, fmt.Errorf("line %d: %w", r.n, why))
	return nil
}

// namedLines is the number of skipped lines that a message names.
const namedLines = 5

// skipped returns an error that says which lines were skipped, or nil.
func (r *fileReader) skipped() error {
	if len(r.bad) == 0 {
		return nil
	}
	var named []string
	for _, err := range r.bad[:min(len(r.bad), namedLines)] {
		named = append(named, err.Error())
	}
	if more := len(r.bad) - namedLines; more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%s: lines that cannot be read: %s", r.path, strings.Join(named, "; "))
}

// end yields the session of a transcript.
func (r *fileReader) end() error {
	name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(r.path), ".gz"), ".jsonl")
	if r.reader == nil {
		return nil
	}
	s := *r.reader.read()
	if s.ID == "" {
		s.ID = name
	}
	return r.yield(s)
}
