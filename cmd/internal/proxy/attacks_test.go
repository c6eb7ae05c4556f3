package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/wire"
)

// A result may contain anything, even the texts that the proxy writes itself. Lines that stay are the tool's own.
func TestAPrunedResultKeepsItsOwnIds(t *testing.T) {
	r := newRig(t, database(t), Both)
	log := passed("package", "--- FAIL: TestIds (0.00s)\n    ids_test.go:12: got prn_00000000, want s1234567\nFAIL\tpackage/ids\t0.01s")
	body := oneCall("why do the tests fail", "t1", "Bash", "go test ./...", log)
	got := string(r.post(t, "/v1/messages", body))
	assert.Less(t, len(got), len(body)/4)
	assert.Contains(t, got, "got prn_00000000, want s1234567")
}

// Whatever an upstream sends instead of HTTP, none of it is in the log or in the answer.
func TestAnUpstreamThatIsNoHTTPIsNotQuoted(t *testing.T) {
	const secret = "the patient is called Rosa"
	for _, answer := range []string{secret + "\r\n\r\n", "HTTP/1.1 " + secret + "\r\n\r\n", "HTTP/1.1 200 OK\r\n" + secret + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: " + secret + "\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + secret + "\r\n\r\n", ""} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 1<<16))
				_, _ = io.WriteString(c, answer)
				_ = c.Close()
			}
		}()
		p := startChild(t, "http://"+l.Addr().String(), database(t), "MCP_PRUNER_LOG_LEVEL=debug")
		res, err := http.Post(p.url+"/v1/messages", "application/json", bytes.NewReader(claudeHistory(2)))
		require.NoError(t, err)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		assert.Equal(t, http.StatusBadGateway, res.StatusCode)
		require.NoError(t, l.Close())
		log := p.end(t)
		assert.Contains(t, log, "proxy.upstream_failed")
		for _, word := range []string{"patient", "called", "Rosa"} {
			assert.NotContains(t, log+string(body), word, "%q", answer)
		}
	}
}

// Local servers send equal call ids, or none, and a command may print the same twice. Each result is still one of its own:
// old ones are cleared, the same history stays the same bytes, and each replacement leads to the text in its place.
func TestEqualResultsWithEqualIds(t *testing.T) {
	command, text := "run %d", func(i int) string { return output(i % 7) }
	for name, id := range map[string]string{"equal ids": "call_0", "no ids": ""} {
		t.Run(name, func(t *testing.T) {
			history := func(n int) []byte {
				m := []any{map[string]any{"role": "user", "content": "fix the bug"}}
				for i := 0; i < n; i += 2 { // two calls at once, as in parallel tool use
					var calls []any
					for j := range 2 {
						calls = append(calls, map[string]any{"id": id, "type": "function",
							"function": map[string]any{"name": "bash", "arguments": fmt.Sprintf(`{"command":"`+command+`"}`, i+j)}})
					}
					m = append(m, map[string]any{"role": "assistant", "content": nil, "tool_calls": calls},
						map[string]any{"role": "tool", "tool_call_id": id, "content": text(i)}, map[string]any{"role": "tool", "tool_call_id": id, "content": text(i + 1)})
				}
				return ordered("model", "any", "tools", chatTools, "messages", m)
			}
			file := database(t)
			r := newRig(t, file, GC)
			var sent [][]byte
			for n := 2; n <= 60; n += 2 {
				sent = append(sent, r.post(t, "/v1/chat/completions", history(n)))
			}
			last := string(sent[len(sent)-1])
			assert.Greater(t, strings.Count(last, "[cleared "), 40)
			assert.NotContains(t, r.logged(), "proxy.passed_through")
			for i, n := 0, 2; n <= 60; i, n = i+1, n+2 {
				require.Equal(t, string(sent[i]), string(r.post(t, "/v1/chat/completions", history(n))), "%d results, sent again", n)
			}
			rest := last
			for i := 0; strings.Contains(rest, "[cleared "); i++ {
				_, rest, _ = strings.Cut(rest, "[cleared ")
				require.Equal(t, text(i), original(t, filesOf(r.engine), rest), "result %d", i)
			}
			c, err := wire.APIOf("/chat/completions").Parse(history(6))
			require.NoError(t, err)
			for i, result := range c.Results {
				assert.Equal(t, fmt.Sprintf(command, i), result.Use.Args["command"], "each result is that of its own call")
			}
		})
	}
}

// Half a surrogate pair, and bytes that are not UTF-8, are the same after clearing and recovering, and in lines that stay.
func TestTextsThatAreNoUnicodeStayExact(t *testing.T) {
	r := newRig(t, database(t), GC)
	half := bytes.ReplaceAll(claudeHistory(40), []byte("ünlike"), []byte(`\ud800 \\ud800`))
	require.NotEqual(t, string(half), string(claudeHistory(40)))
	sent := string(r.post(t, "/v1/messages", half))
	require.Contains(t, sent, "[cleared ")
	assert.Equal(t, strings.ReplaceAll(output(0), "ünlike", "\xed\xa0\x80 \\ud800"), original(t, filesOf(r.engine), sent))
	assert.NotContains(t, sent, "\ufffd")

	r = newRig(t, database(t), Both)
	log := passed("package", "--- FAIL: TestHalf (0.00s)\n    half_test.go:12: got HALF, want 1\nFAIL\tpackage/half\t0.01s")
	body := bytes.Replace(oneCall("why do the tests fail", "t1", "Bash", "go test ./...", log), []byte("HALF"), []byte(`\ud800`), 1)
	got := string(r.post(t, "/v1/messages", body))
	require.Less(t, len(got), len(body)/4)
	assert.Contains(t, got, `got \ud800, want 1`)
}

// A ledger that is removed or replaced while the proxy runs is noticed and reported. What was cleared is sent whole from then
// on, because the request has the text and no ledger does, and nothing is cleared anew until the proxy starts again.
func TestALedgerThatIsGone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps open files")
	}
	for name, take := range map[string]func(file string) error{
		"removed":  os.Remove,
		"folder":   func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
		"renamed":  func(file string) error { return os.Rename(file, file+".old") },
		"replaced": func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "sub", "ledger.db")
			r := newRig(t, file, GC)
			require.Positive(t, cleared(r.post(t, "/v1/messages", full(claudeHistory(40)))))
			r.server.feeding.Wait()
			require.NoError(t, take(file))
			r.advance(time.Minute)
			for _, n := range []int{40, 41, 60, 90} {
				assert.Equal(t, string(full(claudeHistory(n))), string(r.post(t, "/v1/messages", full(claudeHistory(n)))), "%d calls: whole", n)
			}
			said := 0
			for _, e := range r.logged() {
				if e == "ledger.failed" {
					said++
				}
			}
			assert.Equal(t, 1, said)

			again := newRig(t, file, GC) // a new process, with a new ledger
			sent := again.post(t, "/v1/messages", claudeHistory(91))
			assert.Positive(t, cleared(sent))
			assert.Equal(t, output(0), original(t, filesOf(again.engine), string(sent)))
		})
	}
}
