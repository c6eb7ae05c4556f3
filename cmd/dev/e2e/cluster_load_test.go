//go:build e2e

package e2e

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// load counts the answers that the clients of a team got, and keeps the wrong ones.
type load struct {
	team    *team
	http    *http.Client
	phase   atomic.Value // a string: what breaks
	outage  atomic.Bool  // the database is away or was a moment ago: nothing new is cleared, and what is new comes whole
	right   atomic.Int64 // answers
	refused atomic.Int64 // requests without an answer, or with an error that says so
	lost    atomic.Int64 // sessions that had to begin anew
	cleared atomic.Int64 // requests of the proxy whose history had cleared results
	open    atomic.Int64 // histories that were sent before their decision was stored
	whole   atomic.Int64 // results that were sent whole again while the database was there

	mu       sync.Mutex
	wrong    []string
	problems map[string]int
	issued   []issued
}

// issued is an id that leads to an original.
type issued struct{ id, owner, job string }

func newLoad(c *team) *load {
	return &load{team: c, problems: map[string]int{}, http: &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 64, IdleConnTimeout: 5 * time.Second,
	}}}
}

func (l *load) isWrong(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = append(l.wrong, fmt.Sprint(l.phase.Load(), ": ", fmt.Sprintf(format, args...)))
}

func (l *load) refuse(why string) {
	l.refused.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems[why[:min(len(why), 160)]]++
}

// agent is a client of the gateway. Without a session it speaks the newest protocol, which has none.
type agent struct {
	load    *load
	url     string // of the gateway
	owner   string
	client  string // its name; "": e2e
	session string
	modern  bool
	ids     int
}

type mcpAnswer struct {
	status  int
	session string
	text    string // of the result
	isError bool
	failed  string // why there is no result
}

// send sends a request of MCP.
func (a *agent) send(method, tool string, params map[string]any) (got mcpAnswer) {
	a.ids++
	if a.modern {
		params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.ids, "method": method, "params": params})
	if strings.HasPrefix(method, "notifications/") {
		body, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	}
	r, _ := http.NewRequest(http.MethodPost, a.url+"/mcp", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+a.load.team.keys[a.owner])
	if a.url == a.load.team.front {
		r.Header.Set("X-Forwarded-User", "mallory") // nginx writes its own
	}
	if a.session != "" {
		r.Header.Set("Mcp-Session-Id", a.session)
	}
	if a.modern {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		if tool != "" {
			r.Header.Set("Mcp-Name", tool)
		}
	}
	response, err := a.load.http.Do(r)
	if err != nil {
		return mcpAnswer{failed: "no answer"}
	}
	defer func() { _ = response.Body.Close() }()
	got.status, got.session = response.StatusCode, response.Header.Get("Mcp-Session-Id")
	raw, err := io.ReadAll(response.Body)
	var m struct {
		Result *struct {
			Content []struct{ Text string }
			IsError bool
		}
		Error *struct{ Message string }
	}
	switch {
	case err != nil:
		got.failed = "half an answer"
	case response.StatusCode >= 300 || json.Unmarshal(raw, &m) != nil && response.StatusCode != http.StatusAccepted:
		got.failed = fmt.Sprint(response.StatusCode, " ", string(raw[:min(len(raw), 120)]))
	case m.Error != nil:
		got.failed = m.Error.Message
	case m.Result != nil:
		got.isError = m.Result.IsError
		for _, c := range m.Result.Content {
			got.text += c.Text
		}
	}
	return got
}

func (a *agent) call(tool string, arguments map[string]any) mcpAnswer {
	return a.send("tools/call", tool, map[string]any{"name": tool, "arguments": arguments})
}

func (a *agent) open() bool {
	a.session = ""
	got := a.send("initialize", "", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": cmp.Or(a.client, "e2e"), "version": "1"}})
	a.session = got.session
	return a.session != ""
}

var pruneID = regexp.MustCompile(`prn_[0-9a-f]+`)

// round calls the tool report, recovers the lines that were cut from its result, and checks both texts.
func (a *agent) round(job string) {
	if !a.modern && a.session == "" && !a.open() {
		a.load.refuse("initialize")
		return
	}
	whole := teamReport(job)
	got := a.call("far_report", map[string]any{"id": job, "context_focus_question": "Which checksum error is reported?"})
	if got.status == http.StatusNotFound {
		a.load.lost.Add(1)
		a.session = ""
	}
	id := pruneID.FindString(got.text)
	switch {
	case got.failed != "" || got.isError:
		a.load.refuse("report: " + got.failed + got.text)
		return
	case !strings.Contains(got.text, "checksum of "+job+" is sum-"+job):
		a.load.isWrong("%s got %.200q", job, got.text)
		return
	case id == "" && strings.Contains(got.text, whole): // nothing can be stored now
		a.load.right.Add(1)
		return
	case id == "":
		a.load.isWrong("%s got neither the whole nor an id: %.200q", job, got.text)
		return
	}
	a.load.right.Add(1)
	a.load.mu.Lock()
	a.load.issued = append(a.load.issued, issued{id, a.owner, job})
	a.load.mu.Unlock()
	a.recovers(issued{id, a.owner, job})
}

func (a *agent) recovers(i issued) (ok bool) {
	got := a.call("recover_text", map[string]any{"prune_id": i.id, "ranges": []any{map[string]any{"start_line": 2, "end_line": 4}}, "include_line_numbers": false})
	want := strings.Join(strings.SplitAfter(teamReport(i.job), "\n")[1:4], "")
	switch {
	case got.failed == "" && !got.isError && a.owner == i.owner && strings.Contains(got.text, strings.TrimSpace(want)):
		a.load.right.Add(1)
		return true
	case got.failed == "" && !got.isError || strings.Contains(got.text, i.job):
		a.load.isWrong("%s recovered %s of %s: %.200q", a.owner, i.id, i.owner, got.text)
	case a.owner == i.owner:
		a.load.refuse("recover: " + got.failed + got.text)
	}
	return false
}

// conversation is a client of the proxy whose history grows.
type conversation struct {
	load  *load
	url   string // of the proxy
	owner string
	name  string
	calls int
	shown map[string]string // what took the place of a result, by the call's id
}

// next sends a history that is longer by two calls, twice. The second time results may be cleared that were whole: a proxy does
// not wait long for a slow database. A result that is cleared stays cleared.
func (c *conversation) next() {
	c.calls += 2
	first, ok := c.post()
	second, again := c.post()
	if !ok || !again {
		return
	}
	c.load.right.Add(2)
	if !bytes.Equal(first, second) {
		c.load.open.Add(1)
	}
}

func (c *conversation) post() (sent []byte, ok bool) {
	outage := c.load.outage.Load()
	r, _ := http.NewRequest(http.MethodPost, c.url+"/v1/messages", bytes.NewReader(c.history()))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Api-Key", "sk-secret-of-the-provider")
	r.Header.Set("X-Mcp-Pruner-Key", c.load.team.keys[c.owner])
	response, err := c.load.http.Do(r)
	if err != nil {
		c.load.refuse("proxy: no answer")
		return nil, false
	}
	defer func() { _ = response.Body.Close() }()
	sent, err = io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		c.load.refuse(fmt.Sprintf("proxy: %d %.100s", response.StatusCode, sent))
		return nil, false
	}
	c.check(sent, outage || c.load.outage.Load())
	return sent, true
}

// check compares each result with what was sent in its place before: it is whole until it is cleared, and then stays.
func (c *conversation) check(sent []byte, outage bool) {
	var body struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(sent, &body); err != nil || len(body.Messages) != 1+2*c.calls {
		c.load.isWrong("%s: the request became %.200q", c.name, sent)
		return
	}
	cleared := false
	for _, m := range body.Messages {
		var blocks []struct {
			ID      string `json:"tool_use_id"`
			Content any
		}
		if json.Unmarshal(m.Content, &blocks) != nil || len(blocks) == 0 || blocks[0].ID == "" {
			continue
		}
		id, text := blocks[0].ID, fmt.Sprint(blocks[0].Content)
		switch was := c.shown[id]; {
		case text == conversationOutput(id) && (was == "" || outage):
		case text == conversationOutput(id):
			c.load.whole.Add(1)
		case was != "" && was != text:
			c.load.isWrong("%s: %s was %.100q and is %.100q", c.name, id, was, text)
		default:
			c.shown[id], cleared = text, true
		}
	}
	if cleared {
		c.load.cleared.Add(1)
	}
}

func conversationOutput(id string) string {
	return strings.Repeat("line of the output of "+id+", \"quoted\" <and> unlike others\n", 120)
}

func (c *conversation) history() []byte {
	m := []any{map[string]any{"role": "user", "content": "fix the bug of " + c.name}}
	for i := range c.calls {
		id := fmt.Sprintf("toolu_%s_%d", c.name, i)
		m = append(m, map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": fmt.Sprint("run ", i)}}}},
			map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": conversationOutput(id)}}})
	}
	body, _ := json.Marshal(map[string]any{
		"model": "claude", "system": strings.Repeat("You are an agent. ", 2000), "messages": m,
		"tools": []any{map[string]any{"name": "mcp__team__recover_text", "input_schema": map[string]any{"type": "object", "properties": map[string]any{"prune_id": map[string]any{"type": "string"}}}}},
	})
	return body
}

// run starts the clients: three of four use the gateway. The function that it returns ends them.
func (l *load) run(t *testing.T, clients int, owners []string) (end func()) {
	t.Helper()
	stop := make(chan struct{})
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			owner := owners[i/4%len(owners)]
			a := &agent{load: l, url: l.team.front, owner: owner, modern: i%4 == 1}
			talk := &conversation{load: l, url: l.team.model, owner: owner, name: fmt.Sprint("talk", i), shown: map[string]string{}}
			for n := 0; ; n++ {
				if i%4 == 3 {
					if talk.next(); talk.calls >= 60 {
						talk = &conversation{load: l, url: l.team.model, owner: owner, name: fmt.Sprintf("talk%d-%d", i, n), shown: map[string]string{}}
					}
				} else {
					a.round(fmt.Sprintf("job-%d-%d", i, n))
				}
				select {
				case <-stop:
					return
				case <-time.After(time.Second): // a model thinks
				}
			}
		})
	}
	return func() {
		close(stop)
		all.Wait()
		require.Empty(t, l.wrong)
	}
}
