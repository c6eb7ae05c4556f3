package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/running"
	"github.com/mcp-pruner/mcp-pruner/pruneclient/history/sessions"
	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest"
)

// outcome is what a session cost, in fresh input tokens.
type outcome struct {
	whole, bill     float64 // what the client sent, and what the proxy sent on
	calls           int
	cleared, pruned int // in the last request of each context
	refused         int // requests that the stand-in refused, whatever the proxy then did
}

// meter bills the prompts of a session: what a prompt has in common with the one before it is read from the cache.
type meter struct {
	before string // the prompt's texts
	price  float64
}

// add returns the tokens that were read from the cache and written to it.
func (m *meter) add(body []byte) (read, written int) {
	p := contextgc.DefaultPrices()
	text, common := textsIn(body), 0
	for common < min(len(text), len(m.before)) && text[common] == m.before[common] {
		common++
	}
	read, written = count(text[:common]), count(text[common:])
	m.price += float64(read)*p.Read + float64(written)*p.Write
	m.before = text
	return read, written
}

// count is the estimate of replay, of all of a text.
func count(text string) int { return int(tokens.ClaudePerToken * float64(tokens.EstimateAll(text))) }

// textsIn returns the texts of a request, in order. The model sees neither the names of members nor ids.
func textsIn(body []byte) string {
	var all strings.Builder
	var inside []json.Delim
	name, isName := "", false
	for d := json.NewDecoder(bytes.NewReader(body)); ; {
		token, err := d.Token()
		if err != nil {
			return all.String() // the end; the proxy sends valid JSON, or what the client sent
		}
		in := json.Delim(0)
		if len(inside) > 0 {
			in = inside[len(inside)-1]
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				inside = append(inside, v)
			} else {
				inside = inside[:len(inside)-1]
			}
			isName = len(inside) > 0 && inside[len(inside)-1] == '{'
			continue
		case string:
			if in == '{' && isName {
				name, isName = v, false
				continue
			}
			if name != "role" && name != "type" && !strings.HasSuffix(name, "id") {
				all.WriteString(v + "\n")
			}
		}
		isName = in == '{'
	}
}

// patience is how long a proxy may take to end.
const patience = 30 * time.Second

// drive plays a session's client against a proxy that it starts and ends.
func drive(ctx context.Context, program, policy string, a api, s sessions.Session, edits bool) (outcome, error) {
	api := newStandIn()
	defer api.Close()
	state, err := os.MkdirTemp("", "live")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(state)
	address, end, err := running.Proxy(proxyCommand(ctx, program, state, policy, api.URL), patience)
	if err != nil {
		return outcome{}, err
	}
	defer func() { _ = end() }() // it was asked to end, and says so by its status
	c := client{api: a, Bill: sessions.Billed(s, nil), address: address, standIn: api, begins: true, edits: edits}
	for _, step := range s.Steps {
		if err := c.take(step); err != nil {
			return outcome{}, err
		}
	}
	c.count()
	c.out.whole, c.out.bill, c.out.refused = c.asked.price, api.sent.price, api.refused
	return c.out, nil
}

// standIn answers in place of a model's API with the usage of each request, and bills it. As Anthropic's API does, it refuses
// thinking that is bound to something else than what stands before it.
type standIn struct {
	*httptest.Server
	mu        sync.Mutex
	sent      meter
	refused   int
	signature string // of the thinking of the last answer
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
		if _, message := tooltest.CheckThinking(body); message != "" {
			s.refused++
			http.Error(w, message, http.StatusBadRequest)
			return
		}
		s.signature, _ = tooltest.SignThinking(body) // the proxy sends valid JSON
		read, written := s.sent.add(body)
		fmt.Fprintf(w, `{"usage":{"input_tokens":0,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d}}`, read, written)
	}))
	return s
}

// client sends the requests that a session's client sent.
type client struct {
	api
	*sessions.Bill
	address string
	standIn *standIn
	out     outcome

	history []sessions.Step
	edits   bool            // the client changes its own messages, see edit
	input   []sessions.Step // after the model's answer; a transcript may have results between its calls, a request has not
	system  string
	begins  bool // the next call is the first of a context
	call    int
	known   int // tokens of the history
	cold    int // calls so far that found no cache
	asked   meter
}

func (c *client) take(step sessions.Step) error {
	switch step.Kind {
	case sessions.Compact:
		c.count()
		c.history, c.input, c.known, c.begins = nil, nil, 0, true
		return nil
	case sessions.Call:
		return c.called()
	case sessions.Result:
		c.known += tokens.Claude(step.Out)
	case sessions.User, sessions.Attach:
		c.known += tokens.Claude(step.Text)
	case sessions.Say, sessions.Use:
		c.known += sessions.OutputTokens(step)
		if step.Think != "" { // replay counts it as a part of the prompt
			c.history = append(c.history, sessions.Step{Kind: sessions.Say, Text: step.Think})
			step.Think = "" // that of a step in the history is the signature of the stand-in
		}
		c.history = append(c.history, step)
		return nil
	}
	c.input = append(c.input, step)
	return nil
}

// called sends a request. The system prompt has the size of what the transcript does not contain; after a compaction, when the client
// sends the same one, the rest of that size is a first message. Where the recorded call found no cache, the system prompt is another
// one from that point on to which this call found it.
func (c *client) called() error {
	this := c.Calls[c.call]
	switch {
	case c.begins:
		base := sessions.ModelledSystem
		if c.Measured {
			base = max(0, this.Prompt-c.known)
		}
		rest := filler(base)
		if c.system == "" {
			c.system, rest = rest, ""
		}
		if len(rest) > len(c.system) {
			c.history = slices.Insert(c.history, 0, sessions.Step{Kind: sessions.User, Text: rest[len(c.system):]})
		}
	case c.thinks: // a client whose thinking is bound to its system prompt keeps that
	case c.Measured && 2*this.Usage.CacheRead < c.Calls[c.call-1].Prompt:
		c.cold++
		at := min(len(filler(this.Usage.CacheRead)), len(c.system)-10)
		c.system = c.system[:at] + fmt.Sprintf("%010d", c.cold) + c.system[at+10:]
	}
	c.begins = false
	c.call++
	c.history, c.input = append(c.history, c.input...), nil
	if c.edits && c.call%betweenEdits == 0 {
		edit(c.history, c.call/betweenEdits)
	}
	var messages []any
	for _, step := range c.history {
		messages = c.add(messages, step)
	}
	body := []byte(encode(object(c.body(messages, c.system, []any{object{"name", "Bash"}}))))
	request, err := http.NewRequest(http.MethodPost, c.address+c.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Session-Id", c.Session.ID)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, answer.Body) // it is the stand-in's
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered %s", answer.Status)
	}
	c.asked.add(body)
	c.out.calls++
	if c.thinks {
		c.history = append(c.history, sessions.Step{Kind: sessions.Say, Think: c.standIn.signed()})
	}
	return nil
}

// signed returns the signature of the thinking that begins the last answer.
func (s *standIn) signed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.signature
}

// How a client changes its own messages: at every so many calls, and not the newest ones.
const (
	betweenEdits = 12
	untouched    = 16 // steps
)

// edit changes an old message as clients do, by turns: it adds a reminder to a text, shortens a result, or wraps one.
func edit(history []sessions.Step, turn int) {
	old := history[:max(len(history)-untouched, 0)]
	kinds := []sessions.Kind{sessions.User, sessions.Result, sessions.Result}
	for i := len(old) * 2 / 3; i < len(old); i++ {
		step := &old[i]
		if step.Kind != kinds[turn%3] {
			continue
		}
		switch turn % 3 {
		case 0:
			step.Text += "\n<system-reminder>The list of tasks is empty.</system-reminder>"
		case 1:
			step.Out = step.Out[:strings.LastIndexByte(step.Out[:len(step.Out)/2+1], '\n')+1] + "[Old output shortened]"
		case 2:
			step.Out = "<output>\n" + step.Out + "\n</output>"
		}
		return
	}
}

// filler returns words of a size in tokens, which have as many bytes per token as the proxy assumes of a system prompt.
func filler(size int) string {
	const words = "You are an agent, a tool. "
	return strings.Repeat(words, int(1000*float64(size)/float64(tokens.OfJSON(1000*len(words)))))
}

// count counts what stands in place of results at the end of a context.
func (c *client) count() {
	c.standIn.mu.Lock()
	defer c.standIn.mu.Unlock()
	last := c.standIn.sent.before
	c.out.cleared += strings.Count(last, "[cleared ")
	c.out.pruned += strings.Count(last, " lines; rest: `") + strings.Count(last, " lines; all: `")
	c.standIn.sent.before, c.asked.before = "", ""
}
