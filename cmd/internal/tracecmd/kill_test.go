package tracecmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"mcp-pruner/fsm/trace"
)

// Ten thousand requests over eight connections to real servers that share one
// trace and are killed all the time, in the middle of whatever they do: every
// request that was answered is in the trace, once, and the trace is in order.
func TestNoAnsweredRequestIsMissingAfterKills(t *testing.T) {
	requests := 10_000
	if testing.Short() {
		requests = 1000
	}
	root := t.TempDir()
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	for i := 0; i < requests; i += 2 { // every other file is missing
		require.NoError(t, os.WriteFile(filepath.Join(root, fileOf(i)), []byte("text of a file\n"), 0o600))
	}
	const connections = 8
	var all sync.WaitGroup
	answered := make([]bool, requests)
	for c := range connections {
		all.Go(func() {
			random := rand.New(rand.NewPCG(5, uint64(c)))
			for next := c; next < requests; {
				s := startServer(t, root, "MCP_PRUNER_TRACE="+file, "MCP_PRUNER_TRACE_DETAIL=full")
				next = s.askAndKill(t, next, connections, requests, random, answered)
			}
		})
	}
	all.Wait()
	last, err := trace.Open(file, trace.Options{}) // folds in what the servers that were killed last left
	require.NoError(t, err)
	require.NoError(t, last.Close())
	checkTrace(t, file, answered)
}

func fileOf(i int) string { return fmt.Sprintf("f%05d.txt", i) }

// askAndKill asks the server for every step-th file and kills it after a while,
// with answers on their way. It returns the next file to ask for.
func (s *server) askAndKill(t *testing.T, next, step, end int, random *rand.Rand, answered []bool) int {
	read := make(chan struct{})
	arrived := make(chan struct{}, 1024)
	go func() {
		defer close(read)
		for {
			line, err := s.out.ReadSlice('\n')
			if err != nil {
				return // a last line without an end was not answered
			}
			var answer struct{ ID int }
			if assert.NoError(t, json.Unmarshal(line, &answer), "%s", line) {
				answered[answer.ID] = true
			}
			arrived <- struct{}{}
		}
	}()
	flying := 0
	for left := 20 + random.IntN(150); left > 0 && next < end; left-- {
		if s.call(next, "read", map[string]any{"file_path": fileOf(next)}) != nil {
			break
		}
		next += step
		for flying++; flying >= 8; flying-- { // no more at once than the server has room for
			select {
			case <-arrived:
			case <-read: // it ended by itself, which it must not
				t.Error("the server ended before it was killed")
				return end
			}
		}
	}
	require.NoError(t, s.cmd.Process.Kill())
	<-read
	_ = s.cmd.Wait() // it was killed
	return next
}

func checkTrace(t *testing.T, file string, answered []bool) {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	v := verifyText(t, raw)
	require.Empty(t, v.Problems)

	recorded := make(map[string]int)
	decoder, r := trace.NewDecoder(), trace.Record{}
	for _, line := range bytes.Split(raw, []byte("\n")) {
		if at := bytes.LastIndex(line, []byte(`{"v":`)); at > 0 {
			line = line[at:] // behind a torn one
		}
		if decoder.Decode(line, &r) == nil {
			recorded[r.Detail.Path]++
		}
	}
	missing, twice, total := 0, 0, 0
	for i, got := range answered {
		n := recorded[fileOf(i)]
		if got {
			total++
		}
		if got && n == 0 {
			missing++
		}
		if n > 1 {
			twice++
		}
	}
	t.Logf("%d of %d requests answered by %d processes, %d recorded; notes: %s", total, len(answered), v.Writers, v.Records, strings.Join(v.Notes, "; "))
	assert.Zero(t, missing, "answered and not recorded")
	assert.Zero(t, twice, "recorded twice")
	assert.Greater(t, total, len(answered)/2)
	assert.Greater(t, v.Writers, len(answered)/200)
}
