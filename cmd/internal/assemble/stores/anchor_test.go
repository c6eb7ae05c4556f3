package stores

import (
	"bufio"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/settings"
	"github.com/mcp-pruner/mcp-pruner/fsm/event"
	"github.com/mcp-pruner/mcp-pruner/fsm/trace/audit"
)

// headsOfATrace opens and closes a trace whose heads go to a place, and returns the errors that were logged.
func headsOfATrace(t *testing.T, target string) (failures []string) {
	t.Helper()
	c := settings.Settings{TraceHeads: target, Trace: filepath.Join(t.TempDir(), "trace.jsonl")}
	f, err := Door{Settings: c, Transport: "stdio", Emit: func(e event.Event) {
		if e.Name == "mcp_pruner.trace_failed" {
			failures = append(failures, e.Data["message"].(string))
		}
	}}.Trace()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return failures
}

func requireHeads(t *testing.T, text string) {
	t.Helper()
	_, err := audit.ReadHeads(strings.NewReader(text))
	require.NoError(t, err, text)
	assert.Equal(t, 2, strings.Count(text, `"event":"mcp_pruner.trace_head"`), text)
	assert.Contains(t, text, `"final":true`)
}

// TestHeadsGoToASocket proves that each head arrives as a line that verify reads, and that a reader that went away is
// reported and dialled again.
func TestHeadsGoToASocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	lines := make(chan string, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				for s := bufio.NewScanner(c); s.Scan(); {
					lines <- s.Text()
				}
			}()
		}
	}()
	require.Empty(t, headsOfATrace(t, "unix:"+path))
	requireHeads(t, <-lines+"\n"+<-lines)

	a, err := openAnchor("unix:" + path)
	require.NoError(t, err)
	require.NoError(t, a.out.Close()) // as if the reader had gone
	require.NoError(t, a.send(event.New("mcp_pruner.trace_failed", "", event.Facts{"message": "x"})))
	assert.Contains(t, <-lines, "trace_failed")
	require.NoError(t, l.Close())
	require.NoError(t, a.out.Close())
	require.ErrorContains(t, a.send(event.New("mcp_pruner.trace_failed", "", event.Facts{"message": "x"})), "heads: ")
}

func TestHeadsGoToAProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no tee")
	}
	file := filepath.Join(t.TempDir(), "heads")
	require.Empty(t, headsOfATrace(t, "exec:tee "+file))
	assert.Eventually(t, func() bool {
		text, _ := os.ReadFile(file)
		return strings.Count(string(text), "\n") == 2
	}, 10*time.Second, 5*time.Millisecond)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	requireHeads(t, string(text))
}

func TestHeadsGoToTheJournal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no journal")
	}
	path := filepath.Join(t.TempDir(), "j")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	defer socket.Close()
	out, err := dialJournal(path)
	require.NoError(t, err)
	_, err = out.Write([]byte(`{"event":"mcp_pruner.trace_head"}` + "\n"))
	require.NoError(t, err)
	var b [4096]byte
	n, err := socket.Read(b[:])
	require.NoError(t, err)
	assert.Equal(t, "MESSAGE={\"event\":\"mcp_pruner.trace_head\"}\nPRIORITY=6\nSYSLOG_IDENTIFIER=mcp-pruner\n", string(b[:n]))
}

// TestABadPlaceIsRefused proves that a server does not start without the place that its operator named.
func TestABadPlaceIsRefused(t *testing.T) {
	for _, target := range []string{"unix:" + filepath.Join(t.TempDir(), "none"), "exec:no-such-program-anywhere", "file:/x"} {
		_, err := Door{Settings: settings.Settings{TraceHeads: target}, Transport: "stdio"}.Trace()
		require.ErrorContains(t, err, "MCP_PRUNER_TRACE_HEADS", target)
	}
}
