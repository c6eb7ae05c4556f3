package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// client is a client that makes correct and faulty requests in random order.
type client struct {
	s       *server
	random  *rand.Rand
	tally   *tally
	http    http.Client
	session string
	id      int
}

func newClient(s *server, seed uint64, t *tally) *client {
	return &client{s: s, random: rand.New(rand.NewPCG(seed, 1)), tally: t, http: http.Client{Transport: &http.Transport{}}}
}

// acts lists the actions of a client. An action is chosen with a probability in proportion to its odds.
var acts = []struct {
	name string
	odds int
	do   func(*client) error
}{
	{"read", 20, func(c *client) error { return c.says(smallText, "read", `{"file_path":"small.txt"}`) }},
	{"read one of many", 15, (*client).readOne},
	{"read pruned", 20, func(c *client) error {
		return c.says(smallText+"|"+keptText, "read", `{"file_path":"small.txt","context_focus_question":"what?"}`)
	}},
	{"grep", 5, func(c *client) error {
		return c.says("small.txt:2:1:two", "grep", `{"pattern":"two","path":"small.txt"}`)
	}},
	{"bash", 8, func(c *client) error {
		c.id++
		return c.says(fmt.Sprintf("hi %d\n[stderr]\nno\n", c.id), "bash", fmt.Sprintf(`{"command":"echo hi %d; echo no >&2"}`, c.id))
	}},
	{"huge answer", 2, func(c *client) error {
		return c.says(strings.Repeat("x", 5_000_000), "bash", `{"command":"head -c 5000000 /dev/zero | tr '\\0' 'x'","max_output_bytes":10485760}`)
	}},
	{"huge answer, not read", 2, (*client).notRead},
	{"bad arguments", 5, func(c *client) error { return c.wants(c.call("read", `{"file_path":""}`)) }},
	{"no JSON", 5, func(c *client) error { return c.wants(`{"jsonrpc":`) }},
	{"another Host", 3, (*client).otherHost},
	{"new session", 5, (*client).open},
	{"hang up", 4, (*client).hangUp},
	{"cancel", 4, (*client).cancel},
	{"slow body, cut", 4, (*client).slowBody},
	{"timeout", 1, func(c *client) error { return c.wants(c.call("bash", `{"command":"sleep 60","timeout_ms":200}`)) }},
	{"daemon", 1, func(c *client) error {
		return c.wants(c.call("bash", `{"command":"sleep 0.3 & echo started"}`))
	}},
}

func (c *client) run(end time.Time) {
	defer c.http.CloseIdleConnections()
	total := 0
	for _, a := range acts {
		total += a.odds
	}
	for time.Now().Before(end) {
		n := c.random.IntN(total)
		for _, a := range acts {
			if n -= a.odds; n < 0 {
				c.tally.add(a.name, a.do(c))
				break
			}
		}
	}
}

func (c *client) call(tool, arguments string) string {
	c.id++
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, tool, arguments)
}

func (c *client) post(ctx context.Context, body io.Reader, change func(*http.Request)) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.s.url+"/mcp", body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	if change != nil {
		change(r)
	}
	return c.http.Do(r)
}

// wants posts a message and returns an error unless the answer has status 200 and complete JSON.
func (c *client) wants(message string) error {
	return c.wantsWith(200, message, nil)
}

func (c *client) wantsWith(status int, message string, change func(*http.Request)) error {
	_, err := c.take(status, message, change)
	return err
}

// take posts a message and returns the answer's body. It returns an error if the answer has another status, or if the
// status is 200 and the body is not JSON.
func (c *client) take(status int, message string, change func(*http.Request)) ([]byte, error) {
	response, err := c.post(context.Background(), strings.NewReader(message), change)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		c.session = id
	}
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode != status:
		return nil, fmt.Errorf("status %s: %.200s", response.Status, body)
	case status == http.StatusOK && !json.Valid(body):
		return nil, fmt.Errorf("no JSON: %.200s", body)
	}
	return body, nil
}

// says calls a tool and compares the text of its result with want, which lists the accepted texts, separated by "|".
func (c *client) says(want, tool, arguments string) error {
	body, err := c.take(http.StatusOK, c.call(tool, arguments), nil)
	if err != nil {
		return err
	}
	var answer struct {
		ID     int
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	switch {
	case answer.ID != c.id:
		return fmt.Errorf("the answer is for %d, the call was %d", answer.ID, c.id)
	case len(answer.Result.Content) == 0:
		return fmt.Errorf("no content: %.300s", body)
	case !slices.Contains(strings.Split(want, "|"), answer.Result.Content[0].Text):
		return fmt.Errorf("said %.100q, wanted %.100q", answer.Result.Content[0].Text, want)
	}
	return nil
}

// readOne reads one of many files, each with different text.
func (c *client) readOne() error {
	n := c.random.IntN(manyFiles)
	return c.says(textOf(n), "read", fmt.Sprintf(`{"file_path":"many/%d.txt","max_output_bytes":1048576}`, n))
}

func (c *client) open() error {
	c.session = ""
	return c.wants(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","clientInfo":{"name":"soak","version":"0"}}}`)
}

func (c *client) otherHost() error {
	return c.wantsWith(http.StatusForbidden, c.call("bash", `{"command":"true"}`), func(r *http.Request) { r.Host = "evil.example.com" })
}

// hangUp closes the connection while a command is running.
func (c *client) hangUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.random.IntN(300))*time.Millisecond)
	defer cancel()
	response, err := c.post(ctx, strings.NewReader(c.call("bash", `{"command":"sleep 60"}`)), nil)
	if err == nil {
		_ = response.Body.Close()
		return errors.New("there was an answer")
	}
	return nil
}

// cancel cancels a call with a notification.
func (c *client) cancel() error {
	if c.session == "" {
		if err := c.open(); err != nil {
			return err
		}
	}
	message := c.call("bash", `{"command":"sleep 60","timeout_ms":3000}`)
	cancel := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, c.id)
	var cancelled sync.WaitGroup
	cancelled.Go(func() {
		time.Sleep(100 * time.Millisecond) // so that the call arrives first
		response, err := c.post(context.Background(), strings.NewReader(cancel), nil)
		if err == nil {
			_ = response.Body.Close()
		}
	})
	defer cancelled.Wait()
	response, err := c.post(context.Background(), strings.NewReader(message), nil)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusAccepted && response.StatusCode != http.StatusOK { // 200: the notification arrived before the call
		return fmt.Errorf("status %s", response.Status)
	}
	return nil
}

// dial opens a connection and sends the headers of a request with the given Content-Length, then body.
func (c *client) dial(length int, body string) (net.Conn, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.s.url, "http://"))
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", length, body)
	return conn, err
}

// slowBody sends a body byte by byte and closes the connection before its end.
func (c *client) slowBody() error {
	conn, err := c.dial(1000, `{"jsonrpc"`)
	if err != nil {
		return err
	}
	defer conn.Close()
	for range c.random.IntN(10) {
		if _, err := conn.Write([]byte(" ")); err != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// notRead requests a large answer, waits, and closes the connection without reading.
func (c *client) notRead() error {
	message := c.call("bash", `{"command":"head -c 5000000 /dev/zero | tr '\\0' 'x'"}`)
	conn, err := c.dial(len(message), message)
	if err != nil {
		return err
	}
	defer conn.Close()
	time.Sleep(time.Duration(c.random.IntN(1000)) * time.Millisecond)
	return nil
}

// tally counts the calls and the failures of each action, and keeps the last error.
type tally struct {
	mu     sync.Mutex
	done   map[string]int
	failed map[string]int
	last   map[string]error
}

func newTally() *tally {
	return &tally{done: make(map[string]int), failed: make(map[string]int), last: make(map[string]error)}
}

func (t *tally) add(act string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done[act]++
	if err != nil {
		t.failed[act]++
		t.last[act] = err
	}
}

func (t *tally) print() {
	for _, act := range slices.Sorted(maps.Keys(t.done)) {
		fmt.Printf("%8d  %s\n", t.done[act], act)
	}
}

func (t *tally) problem() error {
	var all []error
	for act, n := range t.failed {
		all = append(all, fmt.Errorf("%s failed %d times of %d, lastly: %w", act, n, t.done[act], t.last[act]))
	}
	return errors.Join(all...)
}
