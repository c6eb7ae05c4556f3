package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// filler is the middle of a large text.
type filler struct{}

func (filler) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// Large bodies that arrive at once wait for each other: the server takes no more memory than it admits bodies for.
func TestManyLargeBodiesAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("800 MB are sent")
	}
	const size, most = 32 << 20, 300 << 10 // bytes of a body; KiB of memory
	cmd, _ := program(t)
	cmd.Path = built(t)
	cmd.Args = append(cmd.Args, "serve", "--port", "0")
	logs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(logs)
	var ready struct{ Data struct{ URL string } }
	for ready.Data.URL == "" && lines.Scan() {
		require.NoError(t, json.Unmarshal(lines.Bytes(), &ready))
	}
	go func() { _, _ = io.Copy(io.Discard, logs) }() // ends with the server

	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`
	heads := []string{
		call + `"read","arguments":{"file_path":"`, call + `"bash","arguments":{"cmd":"`, call + `"grep","arguments":{"pattern":"\n`,
		call + `"bash","arguments":{"cmd":"true","context_focus_question":"`, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":{"y":"\u00e9`,
	}
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			head, tail := heads[i%len(heads)], `"}}}`
			body := io.MultiReader(strings.NewReader(head), io.LimitReader(filler{}, int64(size-len(head)-len(tail))), strings.NewReader(tail))
			r, err := http.NewRequestWithContext(t.Context(), "POST", ready.Data.URL, body)
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			if i%2 == 0 {
				r.ContentLength = size
			}
			response, err := http.DefaultClient.Do(r)
			if assert.NoError(t, err) {
				answer, err := io.ReadAll(response.Body)
				_ = response.Body.Close()
				assert.NoError(t, err)
				assert.Contains(t, string(answer), `"jsonrpc":"2.0","id":1,`)
			}
		})
	}
	all.Wait()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	require.NoError(t, err)
	_, high, _ := strings.Cut(string(status), "VmHWM:")
	var peak int
	_, err = fmt.Sscan(high, &peak)
	require.NoError(t, err)
	assert.Less(t, peak, most, "KiB")
	t.Logf("%d MiB at most", peak>>10)
}
