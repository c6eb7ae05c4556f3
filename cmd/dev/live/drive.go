package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/bill"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc/planner"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// outcome is what a session cost, in bytes times the price of their tokens.
type outcome struct {
	whole, bill     float64 // what the client sent, and what the proxy sent on
	calls           int
	cleared, pruned int // in the last request of each context
}

// meter bills the prompts of a session: what a prompt has in common with the one before it is read from the cache.
type meter struct {
	before []byte
	price  float64
}

func (m *meter) add(body []byte) {
	p := planner.DefaultPrices()
	common := 0
	for common < min(len(body), len(m.before)) && body[common] == m.before[common] {
		common++
	}
	m.price += float64(common)*p.Read + float64(len(body)-common)*p.Write
	m.before = body
}

// drive plays a session's client against a proxy that it starts and ends.
func drive(ctx context.Context, program, policy string, a api, s sessions.Session) (outcome, error) {
	api := newStandIn()
	defer api.Close()
	state, err := os.MkdirTemp("", "live")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(state)
	proxy := proxyCommand(ctx, program, state, policy, api.URL)
	address, err := started(proxy.StderrPipe, proxy.Start)
	if err != nil {
		return outcome{}, err
	}
	defer func() {
		_ = proxy.Process.Signal(syscall.SIGTERM) // a process that has ended is reported by Wait
		_ = proxy.Wait()
	}()
	c := client{api: a, Bill: bill.New(s, bill.PricesOf(s)), address: address, standIn: api, begins: true}
	for _, step := range s.Steps {
		if err := c.take(step); err != nil {
			return outcome{}, err
		}
	}
	c.count()
	c.out.whole, c.out.bill = c.asked.price, c.sent.price
	return c.out, nil
}

// started starts a proxy and returns its address with the secret.
func started(stderr func() (io.ReadCloser, error), start func() error) (string, error) {
	errs, err := stderr()
	if err != nil {
		return "", err
	}
	if err := start(); err != nil {
		return "", err
	}
	events := bufio.NewReader(errs)
	line, err := events.ReadBytes('\n')
	var ready struct {
		Data struct {
			File string `json:"url_file"`
		}
	}
	if err == nil {
		err = json.Unmarshal(line, &ready)
	}
	if err != nil {
		return "", fmt.Errorf("the proxy did not start: %s: %w", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, events) }() // ends with the proxy
	url, err := os.ReadFile(ready.Data.File)
	return strings.TrimSpace(string(url)), err
}

// standIn answers in place of a model's API and keeps the latest request.
type standIn struct {
	*httptest.Server
	mu   sync.Mutex
	last []byte
}

func newStandIn() *standIn {
	s := &standIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = body
		_, _ = io.WriteString(w, `{}`)
	}))
	return s
}

// client sends the requests that a session's client sent.
type client struct {
	api
	*bill.Bill
	address string
	standIn *standIn
	out     outcome

	history     []any
	system      string
	begins      bool // the next call is the first of a context
	call        int
	known       int // tokens of the history
	cold        int // calls so far that found no cache
	asked, sent meter
}

func (c *client) take(step sessions.Step) error {
	switch step.Kind {
	case sessions.Compact:
		c.count()
		c.history, c.known, c.begins = nil, 0, true
	case sessions.Call:
		return c.called()
	case sessions.Result:
		c.known += tokens.Claude(step.Out)
	case sessions.User, sessions.Attach:
		c.known += tokens.Claude(step.Text)
	case sessions.Say, sessions.Use:
		c.known += bill.OutputTokens(step)
	}
	c.history = c.add(c.history, step)
	return nil
}

// called sends a request. The system prompt has the size of what the transcript does not contain. Where the recorded call
// found no cache, the tool list is another one than before, so that this one finds none either.
func (c *client) called() error {
	this := c.Calls[c.call]
	if c.begins {
		base := bill.ModelledSystem
		if c.Measured {
			base = max(0, this.Prompt-c.known)
		}
		for c.system = ""; tokens.OfJSON(len(c.system)) < base; {
			c.system += "You are an agent. "
		}
	} else if c.Measured && 2*this.Usage.CacheRead < c.Calls[c.call-1].Prompt {
		c.cold++
	}
	c.begins = false
	c.call++
	tools := []any{object{"name", fmt.Sprintf("tool%d", c.cold)}}
	body := []byte(encode(object(c.body(c.history, c.system, tools))))
	answer, err := http.Post(c.address+c.path, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered %s", answer.Status)
	}
	c.standIn.mu.Lock()
	defer c.standIn.mu.Unlock()
	c.asked.add(body)
	c.sent.add(c.standIn.last)
	c.out.calls++
	return nil
}

// count counts what stands in place of results at the end of a context.
func (c *client) count() {
	last := string(c.sent.before)
	c.out.cleared += strings.Count(last, "[cleared ")
	c.out.pruned += strings.Count(last, " lines; rest: `") + strings.Count(last, " lines; all: `")
	c.sent.before, c.asked.before = nil, nil
}
