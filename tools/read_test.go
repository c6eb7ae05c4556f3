package tools

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

func TestReadContent(t *testing.T) {
	for _, c := range []struct{ about, file, args, content string }{
		{"as it is", "a\r\n\tb\u2028\n", ``, "a\r\n\tb\u2028\n"},
		{"empty", "", ``, ""},
		{"one replacement per bad byte", "a\xff\xfe\xc3(\xe2\x82", ``, "a\ufffd\ufffd\ufffd(\ufffd\ufffd"},
		{"UTF-8 mark", "\xef\xbb\xbfé", ``, "é"},
		{"UTF-16LE", "\xff\xfea\x00\xe9\x00=\xd8\x00\xde", ``, "aé😀"},
		{"UTF-16BE", "\xfe\xff\x00a\xd8\x3d\xde\x00", ``, "a😀"},
		{"Latin-1", "Gr\xf6\xdfe: 3 \xa3, \xc4pfel \x96 f\xfcnf\n", ``, "Größe: 3 £, Äpfel – fünf\n"},
		{"another alphabet", "\xcf\xf0\xe8\xe2\xe5\xf2\n", ``, strings.Repeat("\ufffd", 6) + "\n"},
		{"half a surrogate pair", "\xff\xfe=\xd8a\x00", ``, "\ufffda"},
		{"lines", "1\n2\n3\n4", `,"start_line":2,"end_line":3`, "2\n3\n"},
		{"last line open", "1\n2\n3\n4", `,"start_line":4`, "4"},
		{"to the end", "1\n2\n", `,"end_line":9`, "1\n2\n"},
		{"beyond the end", "1\n2\n", `,"start_line":3`, ""},
		{"NUL late", strings.Repeat("x", 8000) + "\x00", ``, strings.Repeat("x", 8000) + "\x00"},
	} {
		t.Run(c.about, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "f", c.file)
			out := run(t, newTools(t, Settings{Root: root})["read"], `{"file_path":"./f"`+c.args+`}`)
			assert.Equal(t, c.content, out.Code())
			assert.Equal(t, c.content, out.Text())
			got := structured(t, out)
			assert.Equal(t, "./f", got["file_path"])
			assert.EqualValues(t, len(c.content), got["bytes"])
			assert.Equal(t, false, got["truncated"])
			if c.args != "" {
				assert.EqualValues(t, strings.Count(c.file, "\n")+len(strings.TrimSuffix(c.file[len(c.file)-1:], "\n")), got["total_lines"])
			} else {
				assert.NotContains(t, got, "total_lines")
			}
		})
	}
}

// TestReadSaysWhatItDecoded: a model that edits the file has to know.
func TestReadSaysWhatItDecoded(t *testing.T) {
	root := t.TempDir()
	read := newTools(t, Settings{Root: root})["read"]
	for text, notice := range map[string]string{
		"\xff\xfea\x00\n\x00":  "decoded from UTF-16",
		"\xfe\xff\x00a\x00\n":  "decoded from UTF-16",
		"Gr\xf6\xdfe, f\xfcnf": "decoded from Latin-1",
		"caf\xe9":              "not UTF-8: 1 bytes stand as U+FFFD",
		"Größe":                "",
	} {
		write(t, root, "f", text)
		out := run(t, read, `{"file_path":"f"}`)
		assert.Equal(t, notice, out.(Noticer).Notice(), "%q", text)
	}
}

// TestReadBeyondTheEndOfAHugeFile: how many lines there are is what a model needs
// that asked for one too many.
func TestReadBeyondTheEndOfAHugeFile(t *testing.T) {
	checked, issues := newTools(t, Settings{Root: t.TempDir()})["read"].Check(map[string]any{"file_path": "huge", "start_line": 5000.0})
	require.Empty(t, issues)
	out, err := checked.(*readCall).content(t.Context(), strings.NewReader(strings.Repeat("line\n", 2000)), countLimit+1)
	require.NoError(t, err)
	assert.Equal(t, "no lines here; total_lines=2000", out.Notice())
}

func TestReadIsCutBetweenRunes(t *testing.T) {
	root := t.TempDir()
	write(t, root, "long", strings.Repeat("é", 600)) // 1200 bytes
	write(t, root, "lines", strings.Repeat("12345678\n", 300))
	write(t, root, "bad", strings.Repeat("\xff", 1024))
	write(t, root, "exact", strings.Repeat("x", 1024))
	read := newTools(t, Settings{Root: root})["read"]
	for _, c := range []struct {
		file  string
		bytes int
		cut   bool
		next  any
	}{
		{"long", 1024, true, nil}, // a single line: there is nothing behind it
		{"lines", 1024, true, 114.},
		{"bad", 1023, true, nil},
		{"exact", 1024, false, nil},
	} {
		out := run(t, read, `{"file_path":"`+c.file+`","max_output_bytes":1024}`)
		got := structured(t, out)
		assert.EqualValues(t, c.bytes, got["bytes"], c.file)
		assert.Len(t, out.Code(), c.bytes)
		assert.Equal(t, c.cut, got["truncated"], c.file)
		assert.Equal(t, c.next, got["next_start_line"], c.file)
	}
}

// TestReadOnFromTheCut follows next_start_line through a file: every line is read.
func TestReadOnFromTheCut(t *testing.T) {
	root := t.TempDir()
	var text strings.Builder
	for i := range 500 {
		text.WriteString(strings.Repeat("x", i%97) + "\n")
	}
	write(t, root, "f", text.String())
	read := newTools(t, Settings{Root: root})["read"]
	var lines []string
	for next := 1.0; next > 0; {
		out := run(t, read, `{"file_path":"f","max_output_bytes":1024,"start_line":`+jsonText(next)+`}`)
		got := structured(t, out)
		part := strings.SplitAfter(out.Code(), "\n")
		next, _ = got["next_start_line"].(float64)
		if next > 0 {
			part = part[:len(part)-1] // the line that was cut
		}
		lines = append(lines, part...)
	}
	assert.Equal(t, text.String(), strings.Join(lines, ""))
}

func TestReadRefuses(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, root, "dir/file", "inside")
	write(t, outside, "secret", "outside")
	write(t, root, "binary", "a\x00b")
	link := func(to, name string) { require.NoError(t, os.Symlink(to, filepath.Join(root, name))) }
	link(filepath.Join(outside, "secret"), "out")
	link("../../../../../../../../etc/passwd", "climb")
	link(outside, "outdir")
	link("loop2", "loop1")
	link("loop1", "loop2")
	link("nowhere", "dangling")
	link(filepath.Join(root, "nowhere"), "danglingabs")
	link(filepath.Join(outside, "nowhere"), "outdangling")
	link("../../../../../../../../etc/nowhere/x", "climbdangling")
	link("outdir/../nowhere", "behind") // cleaned it would be inside
	link(filepath.Join(outside, "secret/x"), "outfile")
	link("outdangling", "hop")
	link(filepath.Join(root, "dir/file"), "absolute")
	link("dir/../dir/file", "relative")
	read := newTools(t, Settings{Root: root})["read"]
	for path, code := range map[string]string{
		"missing": "not_found", "dir/file/x": "not_found", strings.Repeat("n", 300): "not_found", "dangling": "not_found",
		"danglingabs": "not_found", "dangling/x": "not_found", "absolute/x": "not_found", "outdir/missing": "invalid_path",
		"outdangling": "invalid_path", "climbdangling": "invalid_path", "behind": "invalid_path", "hop": "invalid_path",
		"outfile": "invalid_path", "outdangling/x": "invalid_path",
		"dir": "invalid_path", ".": "invalid_path", "out": "invalid_path", "climb": "invalid_path",
		"outdir/secret": "invalid_path", "loop1": "invalid_path",
	} {
		_, err := call(t, read, `{"file_path":`+quote(path)+`}`)
		e := failure(t, err, code)
		assert.NotContains(t, e.Message, outside)
		assert.True(t, strings.HasPrefix(e.Text(), "Error ("+code+"): "+files.Quoted(path)), e.Text())
	}
	assert.Equal(t, "binary: not UTF-8 text (binary, 3 bytes)", fails(t, read, `{"file_path":"binary"}`, "io_error").Message)
	for _, path := range []string{"absolute", "relative", filepath.Join(root, "dir/file")} {
		out, err := call(t, read, `{"file_path":`+quote(path)+`}`)
		require.NoError(t, err, path)
		assert.Equal(t, "inside", out.Code())
	}
}

func TestReadCancelled(t *testing.T) {
	root := t.TempDir()
	write(t, root, "f", "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := checked(t, newTools(t, Settings{Root: root})["read"], `{"file_path":"f"}`).Run(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestReadPrune(t *testing.T) {
	root := t.TempDir()
	write(t, root, "f", "one\ntwo\n")
	out := run(t, newTools(t, Settings{Root: root})["read"], `{"file_path":"f"}`)
	assert.Equal(t, Source{File: "f", FirstLine: 1}, out.Source())
	pruned := prunedTo(t, out, "")
	assert.Empty(t, pruned.Text())
	assert.EqualValues(t, 8, structured(t, pruned)["bytes"], "bytes are of the raw output")
	assert.Equal(t, "one\ntwo\n", out.Text(), "the raw output stays")
}

// TestReadPrunedToNothing: that a pruner kept nothing is not that the file is empty.
func TestReadPrunedToNothing(t *testing.T) {
	s := Settings{Root: t.TempDir()}
	write(t, s.Root, "a", "text\n")
	write(t, s.Root, "empty", "")
	out := run(t, newTools(t, s)["read"], `{"file_path":"a"}`)
	assert.Empty(t, out.(Noticer).Notice())
	pruned := prunedTo(t, out, "")
	assert.Empty(t, pruned.Text())
	assert.Equal(t, "the pruner kept none of the text; call again without context_focus_question for all of it", pruned.(Noticer).Notice())
	out = run(t, newTools(t, s)["read"], `{"file_path":"empty"}`)
	assert.Equal(t, "no lines here", out.(Noticer).Notice())
}

// TestMissingOutsideIsOutside: of what is outside the root, no call tells whether
// it is there.
func TestMissingOutsideIsOutside(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(outside, "there"), 0o700))
	for _, name := range []string{"there", "missing"} {
		require.NoError(t, os.Symlink(filepath.Join(outside, name), filepath.Join(root, name)))
	}
	tools := newTools(t, Settings{Root: root})
	for tool, args := range map[string]string{
		"read": `{"file_path":"NAME"}`, "grep": `{"pattern":"x","path":"NAME"}`, "bash": `{"command":"true","cwd":"NAME"}`,
	} {
		var said []string
		for _, name := range []string{"there", "missing"} {
			_, err := call(t, tools[tool], strings.ReplaceAll(args, "NAME", name))
			require.Error(t, err)
			said = append(said, strings.ReplaceAll(err.Error(), name, "NAME"))
		}
		assert.Equal(t, said[0], said[1], tool)
	}
}

// TestPathsThatComeBack: only where a path ends up counts.
func TestPathsThatComeBack(t *testing.T) {
	real := t.TempDir()
	write(t, real, "sub/a.txt", "word\n")
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	for _, root := range []string{real, link} {
		tools := newTools(t, Settings{Root: root})
		back := "../" + filepath.Base(root)
		out := run(t, tools["read"], `{"file_path":"sub/../`+back+`/sub/a.txt"}`)
		assert.Equal(t, "word\n", out.Code())
		for _, args := range []string{`"path":"` + back + `"`, `"cwd":"` + back + `/sub","path":"../` + back + `/sub"`, `"cwd":"sub","path":"../` + back + `"`} {
			out, err := call(t, tools["grep"], `{"pattern":"word",`+args+`}`)
			require.NoError(t, err, args)
			assert.Equal(t, "sub/a.txt:1:1:word", out.Text(), args)
		}
		for _, path := range []string{"../x", back + "x/sub/a.txt", back + "/../x", "../" + back} {
			_, issues := tools["read"].Check(map[string]any{"file_path": path})
			assert.Equal(t, []Issue{{"file_path", "custom"}}, issues, path)
		}
	}
	name := filepath.Join(real, "sub/a.txt")
	out := run(t, newTools(t, Settings{Root: "/"})["read"], `{"file_path":`+quote("../.."+name)+`}`)
	assert.Equal(t, "word\n", out.Code())
}

// TestReadThatNeverReturns: a call ends with its context though its read does
// not, and whatever can wake that read is done.
func TestReadThatNeverReturns(t *testing.T) {
	root := t.TempDir()
	write(t, root, "f", "x")
	c := checked(t, newTools(t, Settings{Root: root})["read"], `{"file_path":"f"}`).(*readCall)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	closed, reading := make(chan struct{}), make(chan struct{})
	var once sync.Once
	f := stuckFile{
		read:  func(p []byte) (int, error) { once.Do(func() { close(reading) }); return r.Read(p) },
		close: func() error { defer close(closed); return r.Close() },
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reading; cancel() }()
	_, err = c.contentOrEnd(ctx, f, 0)
	require.ErrorIs(t, err, context.Canceled)
	<-closed
}

// TestReadsWithoutAnEndAreBounded: each ends with an error, and those that nothing wakes are only so many.
func TestReadsWithoutAnEndAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := t.TempDir()
		write(t, root, "f", "x")
		c := checked(t, newTools(t, Settings{Root: root})["read"], `{"file_path":"f"}`).(*readCall)
		release, started := make(chan struct{}), 0
		end := sync.OnceFunc(func() { close(release) })
		defer end()
		stuck := stuckFile{
			read:  func([]byte) (int, error) { started++; <-release; return 0, io.EOF },
			close: func() error { return nil },
		}
		for range mostSizeless {
			_, err := c.contentOrEnd(t.Context(), stuck, 0)
			require.ErrorIs(t, err, errEndless)
			synctest.Wait()
		}
		_, err := c.contentOrEnd(t.Context(), stuck, 0)
		require.ErrorIs(t, err, errStuck)
		assert.Equal(t, mostSizeless, started)
		end()
		synctest.Wait()
		endless := stuckFile{
			read:  func(p []byte) (int, error) { time.Sleep(time.Second); return copy(p, "data\n"), nil },
			close: func() error { return nil },
		}
		_, err = c.contentOrEnd(t.Context(), endless, 0)
		require.ErrorIs(t, err, errEndless)
		failed := c.failed(err).(*Error)
		assert.Equal(t, "io_error", failed.Code)
		assert.Contains(t, failed.Message, "no end after 10s")
		time.Sleep(2 * time.Second)
		assert.Empty(t, c.base.sizeless, "a read that gets data ends with its call")
	})
}

type stuckFile struct {
	read  func([]byte) (int, error)
	close func() error
}

func (f stuckFile) Read(p []byte) (int, error) { return f.read(p) }
func (f stuckFile) Close() error               { return f.close() }
