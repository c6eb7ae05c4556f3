//go:build unix

package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// within fails the test, rather than hanging it, when f does not return.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(limit):
		buf := make([]byte, 1<<20)
		t.Fatalf("still running after %s\n%s", limit, buf[:runtime.Stack(buf, true)])
	}
}

func TestReadNeverWaitsForAFifo(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	require.NoError(t, os.Symlink("fifo", filepath.Join(root, "link")))
	read := newTools(t, Settings{Root: root})["read"]
	within(t, 10*time.Second, func() {
		for _, name := range []string{"fifo", "link"} {
			fails(t, read, `{"file_path":"`+name+`"}`, "invalid_path")
		}
	})
	dev := newTools(t, Settings{Root: "/dev"})["read"]
	for _, name := range []string{"null", "zero", "tty"} {
		fails(t, dev, `{"file_path":"`+name+`"}`, "invalid_path")
	}
}

// TestReadWhileLinksAreSwapped: whatever a name leads to at any moment, nothing
// from outside is read, and nothing hangs.
func TestReadWhileLinksAreSwapped(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, root, "inside/f", "inside")
	write(t, outside, "f", "outside")
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	ctx, stop := context.WithCancel(t.Context())
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			next := filepath.Join(root, fmt.Sprint("next", i))
			switch i % 3 {
			case 0:
				_ = os.Symlink(filepath.Join(outside, "f"), next)
			case 1:
				_ = os.Link(filepath.Join(root, "inside/f"), next)
			case 2:
				_ = os.Link(filepath.Join(root, "fifo"), next)
			}
			_ = os.Rename(next, filepath.Join(root, "f"))
			_ = os.Symlink([]string{outside, filepath.Join(root, "inside")}[i%2], next)
			_ = os.Rename(next, filepath.Join(root, "d"))
		}
	})
	defer swapping.Wait()
	defer stop()
	tools := newTools(t, Settings{Root: root})
	seen := map[string]int{}
	// A busy machine may need more rounds until both outcomes were seen, so only go test's own timeout ends this.
	for round := 0; round < 300 || seen["inside"] == 0 || seen["error"] == 0; round++ {
		for _, path := range []string{"f", "d/f"} {
			out, err := call(t, tools["read"], `{"file_path":"`+path+`"}`)
			if err != nil {
				seen["error"]++
				continue
			}
			seen[out.Code()]++
		}
	}
	assert.Len(t, seen, 2, "%v", seen)
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		grep := newTools(t, s)["grep"]
		for range 8 {
			out, err := call(t, grep, `{"pattern":"side","timeout_ms":5000}`)
			if err == nil {
				assert.NotContains(t, out.Text(), "outside")
			}
		}
	})
}

func TestGrepSkipsWhatIsNoFile(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	write(t, root, "a", "word")
	write(t, outside, "b", "word")
	require.NoError(t, syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "out")))
	require.NoError(t, os.Symlink(filepath.Join(outside, "b"), filepath.Join(root, "outfile")))
	require.NoError(t, os.Symlink(".", filepath.Join(root, "self")))
	require.NoError(t, os.Symlink(filepath.Join(root, "a"), filepath.Join(root, "link")))
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		grep := newTools(t, s)["grep"]
		within(t, 20*time.Second, func() {
			for args, want := range map[string]string{
				`{"pattern":"word"}`:                           "a:1:1:word",
				`{"pattern":"word","paths":["fifo","a"]}`:      "a:1:1:word",
				`{"pattern":"word","path":"fifo"}`:             "",
				`{"pattern":"word","path":"link"}`:             "link:1:1:word",
				`{"pattern":"word","path":"self"}`:             "self/a:1:1:word",
				`{"pattern":"word","path":"` + root + `"}`:     root + "/a:1:1:word",
				`{"pattern":"word","path":"` + root + `/a"}`:   root + "/a:1:1:word",
				`{"pattern":"word","paths":["link","./a"]}`:    "link:1:1:word",
				`{"pattern":"word","cwd":"self","path":"a"}`:   "self/a:1:1:word",
				`{"pattern":"word","glob":"nothing*"}`:         "",
				`{"pattern":"-word","fixed_string":true}`:      "",
				`{"pattern":"--","glob":"-x","path":"./link"}`: "",
			} {
				out, err := call(t, grep, args)
				require.NoError(t, err, args)
				assert.Equal(t, want, out.Text(), args)
			}
			for _, path := range []string{"out", "outfile", "out/b"} {
				fails(t, grep, `{"pattern":"word","path":"`+path+`"}`, "invalid_path")
			}
			fails(t, grep, `{"pattern":"word","cwd":"out"}`, "invalid_path")
		})
	})
}

func TestGrepNamesWithColonsAndLineEnds(t *testing.T) {
	root := t.TempDir()
	names := []string{"a:1:b", "c:2:3", "d\ne:4:f", "x\n\ny"}
	for _, name := range names {
		write(t, root, name, "first\nword: 1:2:3\n")
	}
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		out := run(t, newTools(t, s)["grep"], `{"pattern":"word","context_lines":1}`)
		var got []string
		for _, m := range structured(t, out)["matches"].([]any) {
			m := m.(map[string]any)
			got = append(got, m["path"].(string))
			assert.Equal(t, []any{2., 1., "word: 1:2:3"}, []any{m["line"], m["column"], m["text"]})
		}
		assert.Equal(t, names, got)
		roundTrip(t, out)
	})
}

func TestGrepLongLines(t *testing.T) {
	root := t.TempDir()
	write(t, root, "start", "needle"+strings.Repeat("x", 1<<20))
	write(t, root, "middle", strings.Repeat("é", 1<<19)+"needle"+strings.Repeat("é", 1<<19)+"\n")
	write(t, root, "end", strings.Repeat("x", 1<<20)+"needle")
	write(t, root, "short", strings.Repeat("é", 494)+"needle\n")
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		out := run(t, newTools(t, s)["grep"], `{"pattern":"needle"}`)
		got := structured(t, out)
		assert.Equal(t, false, got["truncated"])
		columns := map[string]float64{}
		for _, m := range got["matches"].([]any) {
			m := m.(map[string]any)
			path, text := m["path"].(string), m["text"].(string)
			columns[path] = m["column"].(float64)
			assert.Contains(t, text, "needle")
			shown := strings.Trim(strings.Split(text, " [line of ")[0], "…")
			assert.Equal(t, 500, len([]rune(shown)), path)
			assert.Equal(t, path != "short", strings.Contains(text, "…"), path)
		}
		assert.Equal(t, map[string]float64{"start": 1, "middle": 1<<19 + 1, "end": 1<<20 + 1, "short": 495}, columns)
		roundTrip(t, out)
	})
}

// TestGrepMemory: neither lines of any length nor masses of matches are held.
func TestGrepMemory(t *testing.T) {
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "huge"))
	require.NoError(t, err)
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 20 {
		_, err = f.Write(chunk)
		require.NoError(t, err)
	}
	_, err = f.WriteString(" word\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	write(t, root, "many", strings.Repeat("word\n", 1<<16))
	engines(t, func(t *testing.T, s Settings) {
		s.Root = root
		grep := newTools(t, s)["grep"]
		found := "huge"
		if strings.HasSuffix(t.Name(), "none") {
			found = "many" // it reads the first 16 MiB of a line
		}
		peak := peakHeap(t, func() {
			for _, mode := range []string{"content", "count"} {
				out := run(t, grep, `{"pattern":"word","output_mode":"`+mode+`"}`)
				assert.Contains(t, out.Text(), found)
			}
		})
		assert.Less(t, peak>>20, uint64(100))
	})
}

// peakHeap is the most memory in use above what was in use before f.
func peakHeap(t *testing.T, f func()) uint64 {
	t.Helper()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	done, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	}()
	f()
	close(done)
	<-watched
	if peak < before {
		return 0
	}
	return peak - before
}

func TestReadMemory(t *testing.T) {
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "big"))
	require.NoError(t, err)
	chunk := []byte(strings.Repeat("some text\n", 1<<20/10))
	for range 256 {
		_, err = f.Write(chunk)
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	peak := peakHeap(t, func() {
		out := run(t, newTools(t, Settings{Root: root})["read"], `{"file_path":"big","max_output_bytes":65536}`)
		assert.Len(t, out.Code(), 65536)
	})
	assert.Less(t, peak>>20, uint64(8))
}
