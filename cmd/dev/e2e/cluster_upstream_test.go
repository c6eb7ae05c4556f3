//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// teamServer is an MCP server for the tests of a team, over standard input, until that ends. Its tool report returns a log in which
// one line matters. Its tool wait takes a number of seconds; it records in a file that it has begun, and later how it ended.
func teamServer() {
	s := teamCalls{ended: map[string]chan struct{}{}}
	in := json.NewDecoder(os.Stdin)
	for {
		var m teamMessage
		if in.Decode(&m) != nil {
			return
		}
		switch {
		case m.Method == "notifications/cancelled":
			s.cancel(string(m.Params.RequestID))
		case m.ID == nil:
		case m.Method == "initialize":
			s.answer(m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"team","version":"1"}}`)
		case m.Method == "tools/list":
			s.answer(m.ID, teamTools)
		case m.Params.Name == "wait":
			go s.wait(m, s.begin(string(m.ID)))
		default:
			text, _ := json.Marshal(teamReport(m.Params.Arguments.ID))
			s.answer(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, text))
		}
	}
}

const teamTools = `{"tools":[
{"name":"report","description":"Returns the log of a job.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}},
{"name":"wait","description":"Waits.","inputSchema":{"type":"object","properties":{"seconds":{"type":"number"},"file":{"type":"string"}},"required":["seconds","file"]}}]}`

type teamMessage struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Name      string
		RequestID json.RawMessage `json:"requestId"`
		Arguments struct {
			ID, File string
			Seconds  float64
		}
	}
}

// teamReport is the log of a job: each line names the job, so that a line of another is recognized. That of a job whose name begins
// with large has more than 1 MiB.
func teamReport(job string) string {
	var b strings.Builder
	lines := 400
	if strings.HasPrefix(job, "large") {
		lines = 20_000
	}
	for i := range lines {
		fmt.Fprintf(&b, "2026-01-01T00:%02d:%02d INFO worker %s heartbeat tick %d ok\n", i/60, i%60, job, i)
	}
	fmt.Fprintf(&b, "2026-01-01T00:07:00 ERROR checksum of %s is sum-%s\n", job, job)
	return b.String()
}

type teamCalls struct {
	mu    sync.Mutex
	ended map[string]chan struct{}
}

func (s *teamCalls) begin(id string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended[id] = make(chan struct{})
	return s.ended[id]
}

func (s *teamCalls) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.ended[id]; ok {
		close(c)
		delete(s.ended, id)
	}
}

func (s *teamCalls) wait(m teamMessage, cancelled chan struct{}) {
	a := m.Params.Arguments
	_ = os.WriteFile(a.File, []byte("begun"), 0o644)
	how := "done"
	select {
	case <-cancelled:
		how = "cancelled"
	case <-time.After(time.Duration(a.Seconds * float64(time.Second))):
	}
	_ = os.WriteFile(a.File, []byte(how), 0o644)
	s.answer(m.ID, `{"content":[{"type":"text","text":"waited"}]}`)
}

func (s *teamCalls) answer(id json.RawMessage, result string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, strings.ReplaceAll(result, "\n", ""))
}
