package assemble

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// anchored opens a place.
func anchored(t *testing.T, target string) *anchor {
	t.Helper()
	a, err := openAnchor(target)
	require.NoError(t, err)
	t.Cleanup(func() {
		if a.out != nil {
			_ = a.out.Close()
		}
	})
	return a
}

// collected reads lines until the end of a stream.
type collected struct {
	mu   sync.Mutex
	text strings.Builder
}

func (c *collected) take(in io.Reader) {
	for s := bufio.NewScanner(in); s.Scan(); {
		c.mu.Lock()
		c.text.WriteString(s.Text() + "\n")
		c.mu.Unlock()
	}
}

func (c *collected) kept() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

func TestHeadsGoToTheLog(t *testing.T) {
	place(func(*testing.T) (trace.Heads, func() string) {
		var log bytes.Buffer
		return headLog{emit: fsm.JSONSink(&log, fsm.LevelInfo)}, log.String
	}).run(t)
}

// listen is a place that keeps what it reads from a socket.
func listen(t *testing.T) (target string, l net.Listener, c *collected) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	c = new(collected)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.take(conn)
		}
	}()
	return "unix:" + path, l, c
}

func TestHeadsGoToASocket(t *testing.T) {
	place(func(t *testing.T) (trace.Heads, func() string) {
		target, _, c := listen(t)
		return anchored(t, target), c.kept
	}).run(t)
}

// TestAReaderThatWentAwayIsDialledAgain: and if nobody is there, that is said.
func TestAReaderThatWentAwayIsDialledAgain(t *testing.T) {
	target, l, c := listen(t)
	a := anchored(t, target)
	require.NoError(t, a.out.Close()) // as if the reader had gone
	require.NoError(t, a.Keep(trace.Head{Writer: "00"}))
	assert.Eventually(t, func() bool { return strings.Contains(c.kept(), `"writer":"00"`) }, 10*time.Second, time.Millisecond)
	require.NoError(t, l.Close())
	require.NoError(t, a.out.Close())
	require.ErrorContains(t, a.Keep(trace.Head{}), "heads: ")
}

func TestHeadsGoToAProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no tee")
	}
	place(func(t *testing.T) (trace.Heads, func() string) {
		file := filepath.Join(t.TempDir(), "heads")
		return anchored(t, "exec:tee "+file), func() string {
			text, _ := os.ReadFile(file) // there when the program has started
			return string(text)
		}
	}).run(t)
}

// TestHeadsGoToTheJournal: each line is an entry of its own, which `journalctl -o cat` prints as it was.
func TestHeadsGoToTheJournal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no journal")
	}
	place(func(t *testing.T) (trace.Heads, func() string) {
		path := filepath.Join(t.TempDir(), "j")
		socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
		require.NoError(t, err)
		t.Cleanup(func() { _ = socket.Close() })
		c := new(collected)
		go func() {
			for b := make([]byte, 4096); ; {
				n, err := socket.Read(b)
				if err != nil {
					return
				}
				entry := string(b[:n])
				if assert.Regexp(t, `^MESSAGE=\{.*\}\nPRIORITY=6\nSYSLOG_IDENTIFIER=mcp-pruner\n$`, entry) {
					message, _, _ := strings.Cut(strings.TrimPrefix(entry, "MESSAGE="), "\n")
					c.take(strings.NewReader(message))
				}
			}
		}()
		out, err := dialJournal(path)
		require.NoError(t, err)
		t.Cleanup(func() { _ = out.Close() })
		return &anchor{out: out}, c.kept
	}).run(t)
}

// TestABadPlaceIsRefused proves that a server does not start without the place that its operator named.
func TestABadPlaceIsRefused(t *testing.T) {
	for _, target := range []string{"unix:" + filepath.Join(t.TempDir(), "none"), "exec:no-such-program-anywhere", "file:/x"} {
		_, err := Door{Settings: settings.Settings{TraceHeads: target}, Transport: "stdio"}.Trace()
		require.ErrorContains(t, err, "MCP_PRUNER_TRACE_HEADS", target)
	}
}
