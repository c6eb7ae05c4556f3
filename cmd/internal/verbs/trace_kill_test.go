package verbs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm/trace"
)

// Ten thousand requests over eight connections to real servers that share one trace.
// Clients hang up, read no answers, and kill their servers in the middle of whatever they
// do: every request that was answered is in the trace, once, none is claimed to be
// answered that was not, and the trace is in order.
func TestTheTraceIsTrueAfterKillsAndHangUps(t *testing.T) {
	requests := 10_000
	if testing.Short() {
		requests = 1000
	}
	root := t.TempDir()
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	for i := 0; i < requests; i += 2 { // every other file is missing
		text := "text of a file\n"
		if i%4 == 0 { // a few such answers are more than a pipe holds
			text = strings.Repeat(text, 1500)
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, fileOf(i)), []byte(text), 0o600))
	}
	const connections = 8
	var all sync.WaitGroup
	fates := make([]fate, requests)
	for c := range connections {
		all.Go(func() {
			random := rand.New(rand.NewPCG(5, uint64(c)))
			for next := c; next < requests; {
				client := &tracedClient{t: t, random: random, fates: fates, step: connections}
				client.tracedServer = startServer(t, root, "MCP_PRUNER_TRACE="+file, "MCP_PRUNER_TRACE_DETAIL=full")
				next = client.use(next)
			}
		})
	}
	all.Wait()
	last, err := trace.Open(file, trace.Options{}) // folds in what the servers that were killed last left
	require.NoError(t, err)
	require.NoError(t, last.Close())
	checkTrace(t, file, fates)
}

func fileOf(i int) string { return fmt.Sprintf("f%05d.txt", i) }

// fate is the end of a request, as its client knows it.
type fate int

const (
	unanswered fate = iota
	answered        // the whole answer came out of the pipe
	unknown         // the client hung up before it read what may have been in the pipe
)

// tracedClient asks one server for every step-th file, and leaves it in one of several ways.
type tracedClient struct {
	*tracedServer
	t      *testing.T
	random *rand.Rand
	fates  []fate
	step   int
}

// use returns the next file to ask for.
func (c *tracedClient) use(next int) int {
	left := 20 + c.random.IntN(150)
	leave := c.random.IntN(4)
	deaf := -1 // answers that are read; all
	if leave == 1 || leave == 2 {
		deaf = c.random.IntN(left)
	}
	arrived, resume, drained := make(chan struct{}, 1024), make(chan struct{}), make(chan struct{})
	hungUp := make(chan struct{})
	go func() {
		defer close(drained)
		c.read(deaf, arrived, resume, hungUp)
	}()
	first := next
	for flying, read := 0, 0; left > 0 && next < len(c.fates); left-- {
		if c.call(next, "read", map[string]any{"file_path": fileOf(next)}) != nil {
			break
		}
		next += c.step
		for flying++; flying >= 8 && read != deaf; flying-- { // no more at once than the server has room for
			select {
			case <-arrived:
				read++
			case <-drained: // it ended by itself, which it must not
				c.t.Error("the server ended before it was killed")
				return len(c.fates)
			}
		}
		if flying >= 8 { // nobody reads its answers
			break
		}
	}
	c.leave(leave, first, next, resume, drained, hungUp)
	return next
}

// leave ends the server: it is killed, killed or told to end with its answers unread, or
// its client hangs up.
func (c *tracedClient) leave(how, first, next int, resume, drained, hungUp chan struct{}) {
	switch how {
	case 2:
		require.NoError(c.t, c.cmd.Process.Signal(syscall.SIGTERM))
		ended := make(chan struct{})
		go func() { _, _ = c.cmd.Process.Wait(); close(ended) }()
		<-ended // with its pipe full
	case 3:
		close(hungUp)
		require.NoError(c.t, c.pipe.Close())
		_ = c.in.Close() // it may be gone already
	default:
		require.NoError(c.t, c.cmd.Process.Kill())
	}
	close(resume)
	<-drained
	if how != 2 {
		_ = c.cmd.Wait() // however it ended
	}
	if how == 3 {
		for i := first; i < next; i += c.step {
			if c.fates[i] == unanswered {
				c.fates[i] = unknown
			}
		}
	}
}

// read reads answers: so many, and the rest when resume is closed.
func (c *tracedClient) read(most int, arrived chan<- struct{}, resume, hungUp <-chan struct{}) {
	for n := 0; ; n++ {
		if n == most {
			<-resume
		}
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return // a last line without an end was not answered
		}
		var answer struct{ ID int }
		if assert.NoError(c.t, json.Unmarshal(line, &answer), "%s", line) {
			c.fates[answer.ID] = answered
		}
		select {
		case arrived <- struct{}{}:
		case <-hungUp:
			return
		}
	}
}

func checkTrace(t *testing.T, file string, fates []fate) {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	v := verifiedTrace(t, raw)
	require.Empty(t, v.Problems)

	recorded, claimed := make(map[string]int), make(map[string]bool)
	decoder, r := trace.NewDecoder(), trace.Record{}
	for _, line := range bytes.Split(raw, []byte("\n")) {
		if at := bytes.LastIndex(line, []byte(`{"v":`)); at > 0 {
			line = line[at:] // after a torn one
		}
		if decoder.Decode(line, &r) == nil && r.Detail != nil { // it got as far as its tool
			recorded[r.Detail.Path]++
			claimed[r.Detail.Path] = claimed[r.Detail.Path] || r.Answer == "" && r.Bytes.Wire > 0
		}
	}
	count := make(map[string]int)
	for i, got := range fates {
		n := recorded[fileOf(i)]
		switch {
		case got == answered && n == 0:
			count["answered and not recorded"]++
		case got == unanswered && claimed[fileOf(i)]:
			count["claimed and not answered"]++
		case n > 1:
			count["recorded twice"]++
		case got == answered:
			count["answered"]++
		}
	}
	t.Logf("%v of %d requests, %d processes, %d records; notes: %s", count, len(fates), v.Writers, v.Records, strings.Join(v.Notes, "; "))
	assert.Greater(t, count["answered"], len(fates)/2)
	delete(count, "answered")
	assert.Empty(t, count)
	assert.Greater(t, v.Writers, len(fates)/200)
}
