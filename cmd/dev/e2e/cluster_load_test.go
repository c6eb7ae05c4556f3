//go:build e2e && all

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load counts the answers that the clients of a team got, and keeps the wrong ones.
type load struct {
	team    *team
	http    *http.Client
	right   atomic.Int64 // answers
	refused atomic.Int64 // requests without an answer, or with an error that says so
	lost    atomic.Int64 // sessions that had to begin anew

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
	l.wrong = append(l.wrong, fmt.Sprintf(format, args...))
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
	got := a.send("initialize", "", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "e2e", "version": "1"}})
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
