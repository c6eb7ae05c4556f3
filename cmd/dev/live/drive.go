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

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/promptcache"
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

// meter bills the prompts of a session by the rule of the API's cache.
type meter struct {
	*promptcache.Cache
	last  []byte // request
	price float64
}

// add returns the usage of a request. The recorded pauses are in the requests, see begin and cold: no time passes.
func (m *meter) add(a api, body []byte) (promptcache.Usage, error) {
	u, err := m.Send(a.path, body, time.Time{})
	m.price += u.Price(a.model)
	m.last = body
	return u, err
}

// again begins a context: replay takes nothing of it for cached.
func (m *meter) again() { m.Cache, m.last = &promptcache.Cache{Density: m.Density}, nil }

func newMeter(density float64) *meter {
	return &meter{Cache: &promptcache.Cache{Density: density}}
}

// patience is how long a proxy may take to end.
const patience = 30 * time.Second

// drive plays a session's client against a proxy that it starts and ends.
func drive(ctx context.Context, program, policy string, a api, s sessions.Session, edits bool) (outcome, error) {
	api := newStandIn(a)
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
	return play(a, s, api, address, edits)
}

// play sends the requests of a session's client to an address before a stand-in.
func play(a api, s sessions.Session, api *standIn, address string, edits bool) (outcome, error) {
	c := client{api: a, Bill: sessions.Billed(s, nil), address: address, standIn: api, begins: true, edits: edits}
	c.density = float64(c.Tokens(filler(longText))) / float64(tokens.Claude(filler(longText)))
	c.asked, api.sent = newMeter(c.density), newMeter(c.density)
	c.hour = slices.ContainsFunc(s.Steps, func(step sessions.Step) bool { return step.Usage != nil && step.Usage.Hour > 0 })
	for _, step := range s.Steps {
		if err := c.take(step); err != nil {
			return outcome{}, err
		}
	}
	c.count()
	c.out.whole, c.out.bill, c.out.refused = c.asked.price, api.sent.price, api.refused
	return c.out, nil
}

// standIn answers in place of a model's API with the usage of each request, and bills it.
type standIn struct {
	*httptest.Server
	mu        sync.Mutex
	sent      *meter
	refused   int
	signature string // of the thinking of the last answer
}

func newStandIn(a api) *standIn {
	s := &standIn{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		err = promptcache.Check(a.path, body)
		usage := promptcache.Usage{}
		if err == nil {
			usage, err = s.sent.add(a, body)
		}
		if err != nil {
			s.refused++
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if a.thinks {
			s.signature, _ = tooltest.SignThinking(body) // the proxy sends valid JSON
		}
		_ = json.NewEncoder(w).Encode(map[string]any{promptcache.Name(a.path): usage.In(a.path, 0)})
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
	known   int  // tokens of the history
	colds   int  // calls so far that found no cache
	hour    bool // the client asks for a cache of an hour
	asked   *meter
	density float64 // tokens of the session for one that Claude counts
}

func (c *client) take(step sessions.Step) error {
	switch step.Kind {
	case sessions.Compact:
		c.count()
		c.history, c.input, c.known, c.begins = nil, nil, 0, true
		return nil
	case sessions.Call:
		return c.called()
	case sessions.Drop:
		c.empty(step.ID)
		return nil
	case sessions.Result:
		c.known += c.Tokens(step.Out)
	case sessions.User, sessions.Attach:
		c.known += c.Tokens(step.Text)
	case sessions.Say, sessions.Use:
		c.known += c.OutputTokens(step)
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

// enough are the tokens by which a modelled system prompt is larger than replay's, since no cache keeps less than 4,096.
const enough = 200

// begin puts what the transcript does not contain before a context: tools and system prompt, and the rest as a first message. A
// system prompt stays the same after a compaction.
func (c *client) begin() {
	base := sessions.ModelledSystem + enough
	if c.Measured {
		base = max(0, c.Calls[c.call].Prompt-c.known)
	}
	if c.system == "" {
		c.system = c.filler(c.SystemOf(base))
	}
	if rest := c.filler(base); len(rest) > len(c.system) {
		c.history = slices.Insert(c.history, 0, sessions.Step{Kind: sessions.User, Text: rest[len(c.system):]})
	}
}

// part returns how much of the prompt before it the recorded call found in the cache.
func (c *client) part() float64 {
	this, before := c.Calls[c.call], c.Calls[c.call-1]
	return contextgc.CachedOf(this.Usage.CacheRead, max(before.Prompt-this.Gone+before.Gone, 0))
}

// leaves empties the results that the client took out before the next call. It returns false where there are none.
func (c *client) leaves() (some bool) {
	for _, r := range c.Results {
		if r.Until > 0 && r.Until == c.call {
			some = true
			c.empty(c.Session.Steps[r.Step].ID)
		}
	}
	return some
}

// empty takes the text out of a result, as opencode does.
func (c *client) empty(id string) {
	for i := range c.history {
		if c.history[i].Kind == sessions.Result && c.history[i].ID == id {
			c.history[i].Out = "[Old tool result content cleared]"
		}
	}
}

// lose lets the caches lose what the recorded call did not find, of which nobody knows before.
func (c *client) lose() {
	if part := c.part(); part < 1 {
		blocks, rest := c.asked.Find(part)
		c.asked.Lose(blocks, rest)
		c.standIn.sent.Lose(blocks, rest)
	}
}

// cool changes what stands first, where it could be seen that the recorded call would find no cache: the system prompt from that point
// on to which the call found it, or the first message if that is the end of the system prompt.
func (c *client) cool() {
	read := c.Calls[c.call].Usage.CacheRead
	c.colds++
	number := fmt.Sprintf("%010d", c.colds)
	at := len(c.filler(read))
	if first := &c.history[0]; at >= len(c.system)*9/10 && len(first.Text) > len(number) {
		first.Text = number + first.Text[len(number):]
		return
	}
	at = min(at, len(c.system)-len(number))
	c.system = c.system[:at] + number + c.system[at+len(number):]
}

// think adds the thinking of the latest answer to the history: the stand-in's, with its signature, or as many words as the transcript
// does not show.
func (c *client) think() {
	hidden := c.Calls[c.call-1].Hidden
	switch {
	case c.thinks:
		c.history = append(c.history, sessions.Step{Kind: sessions.Say, Think: c.standIn.signed()})
	case hidden > 0:
		c.known += hidden
		c.history = append(c.history, sessions.Step{Kind: sessions.Say, Text: c.filler(hidden), Think: fmt.Sprint("signature ", c.call)})
	}
}

// filler returns words that have so many tokens of the session's.
func (c *client) filler(size int) string { return filler(int(float64(size) / c.density)) }

// called sends a request.
func (c *client) called() error {
	if c.begins {
		c.begin()
	} else {
		switch {
		case !c.Measured || c.thinks: // a client whose thinking is bound to its system prompt keeps that
		case c.part() < 1 && c.leaves():
		case c.Foreseen(c.call):
			c.cool()
		default:
			c.lose()
		}
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
	body := []byte(encode(object(c.body(request{c.model, c.system, []any{object{"name", "Bash"}}, messages, c.hour}))))
	request, err := http.NewRequest(http.MethodPost, c.address+c.path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Session-Id", c.Session.ID)
	if key := os.Getenv("GATEWAY_KEY"); key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, answer.Body) // it is the stand-in's
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered %s", answer.Status)
	}
	if _, err := c.asked.add(c.api, body); err != nil {
		return err
	}
	c.out.calls++
	c.think()
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

// longText is the size of a text by which the tokens of a session are measured.
const longText = 10_000

// filler returns words of a size in tokens, which have as many bytes per token as the proxy assumes of a system prompt.
func filler(size int) string {
	const words = "You are an agent, a tool. "
	return strings.Repeat(words, int(1000*float64(size)/float64(tokens.OfJSON(1000*len(words)))))
}

// count counts what stands in place of results at the end of a context.
func (c *client) count() {
	c.standIn.mu.Lock()
	defer c.standIn.mu.Unlock()
	last := string(c.standIn.sent.last)
	c.out.cleared += strings.Count(last, "[cleared ")
	c.out.pruned += strings.Count(last, " lines; rest: `") + strings.Count(last, " lines; all: `")
	c.standIn.sent.again()
	c.asked.again()
}
