package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/running"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// The gateways that ask the proxy to shrink a request, as far as they deal with its answer.
const (
	liteLLM      = "litellm"
	agentgateway = "agentgateway"
	withTool     = agentgateway + " with ?tool=" // whose operator says that all models have recover_text
)

// smallest is the number of bytes of messages from which agentgateway asks.
const smallest = 16 << 10

// gateway stands between a client and the stand-in of a model's API. It asks the proxy as one of the gateways does, checks the answer as
// both do, and sends on what it got. What it would have refused is a problem.
type gateway struct {
	*httptest.Server
	kind     string
	proxy    string // its address
	secret   string
	upstream string

	mu       sync.Mutex
	problems []error
	known    map[string]bool // hashes that were retrieved
}

func newGateway(kind, proxy, upstream string) *gateway {
	at := strings.LastIndexByte(proxy, '/')
	g := &gateway{kind: kind, proxy: proxy[:at], secret: proxy[at+1:], upstream: upstream, known: map[string]bool{}}
	g.Server = httptest.NewServer(http.HandlerFunc(g.serve))
	return g
}

func (g *gateway) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = g.shrunk(r.Context(), body)
	}
	if err != nil {
		g.mu.Lock()
		g.problems = append(g.problems, err)
		g.mu.Unlock()
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	res, err := http.Post(g.upstream+r.URL.Path, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = res.Body.Close() }()
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // the client counts what it gets
}

// shrunk returns a request with the messages that the proxy made of its own.
func (g *gateway) shrunk(ctx context.Context, body []byte) ([]byte, error) {
	if g.kind == liteLLM {
		return g.throughLiteLLM(ctx, body)
	}
	d, top, err := jsonspan.Parse(body)
	if err != nil {
		return nil, err
	}
	found, err := d.Members(top, "messages", "input", "model")
	if err != nil {
		return nil, err
	}
	at := found[0]
	if at.To == 0 {
		at = found[1]
	}
	if at.To-at.From < smallest {
		return body, nil
	}
	messages, err := g.ask(ctx, at.Of(body), found[2].Text(body))
	if err != nil {
		return nil, err
	}
	if err := checkMessages(at.Of(body), messages); err != nil {
		return nil, err
	}
	return jsonspan.Splice(body, []jsonspan.Edit{{From: at.From, To: at.To, Text: messages}}), nil
}

// ask asks the proxy.
func (g *gateway) ask(ctx context.Context, messages []byte, model string) ([]byte, error) {
	asked, _ := json.Marshal(map[string]any{"messages": json.RawMessage(messages), "model": model})
	path := "/v1/compress"
	if g.kind != liteLLM {
		path = "/" + g.secret + path
	}
	if g.kind == withTool {
		path += "?tool=mcp__team__recover_text"
	}
	var answer struct {
		Messages json.RawMessage
		Before   *int `json:"tokens_before"`
		After    *int `json:"tokens_after"`
	}
	if err := g.send(ctx, http.MethodPost, path, asked, &answer); err != nil {
		return nil, err
	}
	if answer.Before == nil || answer.After == nil {
		return nil, errors.New("the answer has no counts of tokens")
	}
	return answer.Messages, nil
}

func (g *gateway) send(ctx context.Context, method, path string, body []byte, into any) error {
	r, err := http.NewRequestWithContext(ctx, method, g.proxy+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if g.kind != liteLLM {
		r.Header.Set("x-agw-compression-version", "1")
		r.Header.Set("User-Agent", "")
	} else {
		r.Header.Set("User-Agent", "litellm/1.92.0")
		r.Header.Set("Authorization", "Bearer "+g.secret)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path[:min(len(path), 12)], res.Status)
	}
	return json.NewDecoder(res.Body).Decode(into)
}

// hashes matches what LiteLLM looks for in texts.
var hashes = regexp.MustCompile(`hash=([a-f0-9]{24})`)

// retrieve asks for the original of each hash that is new. It has to be a text of the messages as they came, but for the names before
// the arguments of a call.
func (g *gateway) retrieve(ctx context.Context, before []byte, found []string) error {
	came := textsOf(before)
	for _, hash := range found {
		g.mu.Lock()
		known := g.known[hash]
		g.known[hash] = true
		g.mu.Unlock()
		if known || bytes.Contains(before, []byte("hash="+hash)) {
			continue
		}
		var answer struct {
			Text string `json:"original_content"`
		}
		if err := g.send(ctx, http.MethodGet, "/v1/retrieve/"+hash+"?query=", nil, &answer); err != nil {
			return err
		}
		for line := range strings.Lines(answer.Text) {
			if line = strings.TrimSpace(line); strings.Contains(came, line) || strings.HasSuffix(line, ":") {
				continue
			}
			return fmt.Errorf("the original of %s is no text of the messages: %.80q in %.80q", hash, line, answer.Text)
		}
	}
	return nil
}

// textsOf returns the strings of a JSON text, those of JSON within a string, too.
func textsOf(text []byte) string {
	var all strings.Builder
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := d.Token()
		if err != nil {
			return all.String()
		}
		if s, ok := token.(string); ok {
			all.WriteString(s + "\n")
			if strings.HasPrefix(s, "{") {
				all.WriteString(textsOf([]byte(s)))
			}
		}
	}
}

// checkMessages is agentgateway's check: there are messages, each is an object, and no call or result lost its other half.
func checkMessages(before, after []byte) error {
	var was, is []any
	if err := json.Unmarshal(before, &was); err != nil {
		return err
	}
	if err := json.Unmarshal(after, &is); err != nil {
		return err
	}
	if len(was) > 0 && len(is) == 0 {
		return errors.New("the list is empty")
	}
	for _, m := range is {
		if _, ok := m.(map[string]any); !ok {
			return errors.New("a message is no object")
		}
	}
	odd := unpaired(is)
	for id := range unpaired(was) {
		delete(odd, id)
	}
	if len(odd) > 0 {
		return fmt.Errorf("calls without results, or the other way round: %v", slices.Sorted(maps.Keys(odd)))
	}
	return nil
}

// unpaired returns the ids of calls without a result, and of results without a call.
func unpaired(messages []any) map[string]bool {
	halves := map[string]int{} // 1: a call, 2: a result
	note := func(id any, half int) {
		if s, ok := id.(string); ok {
			halves[s] |= half
		}
	}
	for _, m := range messages {
		message, _ := m.(map[string]any)
		calls, _ := message["tool_calls"].([]any)
		for _, c := range calls {
			call, _ := c.(map[string]any)
			note(call["id"], 1)
		}
		note(message["tool_call_id"], 2)
		blocks, _ := message["content"].([]any)
		for _, b := range append(blocks, any(message)) {
			block, _ := b.(map[string]any)
			switch block["type"] {
			case "tool_use":
				note(block["id"], 1)
			case "tool_result":
				note(block["tool_use_id"], 2)
			case "function_call":
				note(block["call_id"], 1)
			case "function_call_output":
				note(block["call_id"], 2)
			}
		}
	}
	odd := map[string]bool{}
	for id, half := range halves {
		if half != 3 {
			odd[id] = true
		}
	}
	return odd
}

// runBehind prints what sessions save behind each gateway.
func runBehind(ctx context.Context, w io.Writer, file string, ids []string, program string) error {
	list, err := find(ctx, file, ids)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, "| gateway | session | calls | clears | saved, of the prompts |\n|---|---|---|---|---|")
	for _, kind := range []string{liteLLM, agentgateway, withTool} {
		for _, one := range list {
			a := own(one)
			sent, err := driveBehind(ctx, program, kind, a, asked(one, a))
			if err == nil && sent.refused > 0 {
				err = fmt.Errorf("%d requests were refused", sent.refused)
			}
			if err != nil {
				return fmt.Errorf("%s, %s: %w", kind, one.ID, err)
			}
			_, _ = fmt.Fprintf(w, "| %s | %.8s | %d | %d | %.1f %% |\n", kind, one.ID, sent.calls, sent.cleared, 100*(sent.whole-sent.bill)/sent.whole)
		}
	}
	return nil
}

// driveBehind plays a session's client against a gateway, in front of a proxy that it starts and ends.
func driveBehind(ctx context.Context, program, kind string, a api, s sessions.Session) (outcome, error) {
	api := newStandIn(a)
	defer api.Close()
	state, err := os.MkdirTemp("", "live")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(state)
	address, end, err := running.Proxy(proxyCommand(ctx, program, state, "gc", api.URL), patience)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = end() }() // it was asked to end, and says so by its status
	g := newGateway(kind, address, api.URL)
	defer g.Close()
	out, err := play(a, s, api, g.URL, false)
	return out, errors.Join(append(g.problems, err)...)
}

// runReal plays sessions against a gateway that runs already.
func runReal(ctx context.Context, w io.Writer, file string, ids []string, address, standin string) error {
	list, err := find(ctx, file, ids)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, "| gateway | session | calls | clears | saved, of the prompts |\n|---|---|---|---|---|")
	for _, one := range list {
		a := own(one)
		api, err := standInAt(a, standin)
		if err != nil {
			return err
		}
		sent, err := play(a, asked(one, a), api, strings.TrimSuffix(address, "/"), false)
		api.Close()
		if err != nil {
			return fmt.Errorf("%s, %s: %w", address, one.ID, err)
		}
		_, _ = fmt.Fprintf(w, "| %s | %.8s | %d | %d | %.1f %% |\n", address, one.ID, sent.calls, sent.cleared, 100*(sent.whole-sent.bill)/sent.whole)
	}
	return nil
}

// standInAt is a stand-in at an address, which a gateway has as that of its model's API.
func standInAt(a api, address string) (*standIn, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := newStandIn(a)
	handler := s.Config.Handler
	s.Close()
	s.Server = httptest.NewUnstartedServer(handler)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	return s, nil
}
