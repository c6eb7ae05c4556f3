package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"
)

// variant is one configuration of the server. Each client's calls are divided among all of them.
type variant struct {
	name   string
	env    []string
	modern bool // protocol 2026-07-28, whose requests say themselves who asks
}

func (s *stand) variants() []variant {
	text := "MCP_PRUNER_TOOLSETS=core,text"
	return []variant{
		{"embedded", []string{"PRUNER_URL=embedded", text}, false},
		{"modern", []string{"PRUNER_URL=embedded", text}, true},
		{"service", []string{"PRUNER_URL=" + s.service.URL, "PRUNER_TIMEOUT_MS=20000", text, "MCP_PRUNER_RESULT=full"}, false},
		{"off", []string{"PRUNER_URL=", "MCP_PRUNER_INVALID_PARAMS=protocol"}, true},
		{"repeat", []string{"PRUNER_URL=embedded", "MCP_PRUNER_REPEAT_RAW=true", "MCP_PRUNER_NONZERO_EXIT=error", "MCP_PRUNER_RESULT=text", text}, false},
		{"ledger", []string{"PRUNER_URL=embedded", "MCP_PRUNER_TOOLSETS=core,text,gc", "MCP_PRUNER_INVALID_PARAMS=tool", "MCP_PRUNER_RESULT=full"}, false},
	}
}

// stdio plays the calls of one client, in one session per variant.
func (s *stand) stdio(c client) (all []exchange, err error) {
	variants := s.variants()
	for i, v := range variants {
		n := s.size.calls / len(variants)
		if i < s.size.calls%len(variants) {
			n++
		}
		some, err := s.session(c, v, n, uint64(i))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.name, err)
		}
		all = append(all, some...)
	}
	return all, nil
}

func (s *stand) session(c client, v variant, n int, seed uint64) (all []exchange, err error) {
	p, err := s.serve(append(v.env, "MCP_PRUNER_LOG_LEVEL=error"))
	if err != nil {
		return nil, err
	}
	t := talk{process: p, client: c.name, modern: v.modern, masker: newMasker()}
	maker, err := newCaller(rand.New(rand.NewPCG(seed, 31)), s.root(), s.cases)
	if err != nil {
		return nil, err
	}
	if !v.modern {
		t.exchange(t.request("initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": c.name, "version": "1.2.3"}}), true)
		t.exchange(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, false)
	}
	for len(t.all) < n {
		m := maker.next(&t)
		t.exchange(m.line, !m.silent)
	}
	return t.all, p.end()
}

// object is a JSON object.
type object = map[string]any

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps, slices and strings only
	}
	return string(b)
}

// talk is a conversation with a server over its standard streams, one message at a time.
type talk struct {
	*process
	*masker
	client string
	modern bool
	id     int
	ids    []string // of originals that were named so far, the newest first
	all    []exchange
}

// request returns the line of a request.
func (t *talk) request(method string, params object) string {
	t.id++
	if t.modern {
		params["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": object{},
			"io.modelcontextprotocol/clientInfo": object{"name": t.client, "version": "1.2.3"},
		}
	}
	return encode(object{"jsonrpc": "2.0", "id": t.id, "method": method, "params": params})
}

// call returns the line of a tool call.
func (t *talk) call(tool string, args object) string {
	return t.request("tools/call", object{"name": tool, "arguments": args})
}

// original returns the id of an original: a recent one, or with n = 0 one that was never given out.
func (t *talk) original(n int) string {
	if n > 0 && len(t.ids) > 0 {
		return t.ids[(n-1)%len(t.ids)]
	}
	return "prn_" + strings.Repeat("0", 32)
}

var anOriginal = regexp.MustCompile(`\bprn_[0-9a-f]{8,}\b`)

// exchange sends a line and, if an answer is due, waits for it. Notifications that come before the answer belong to it.
func (t *talk) exchange(line string, answered bool) {
	x := exchange{sent: t.mask(line)}
	if _, err := io.WriteString(t.stdin, line+"\n"); err != nil {
		x.got = "not sent: the program has ended"
	}
	for answered {
		got, ok := t.receive()
		x.got += t.mask(got) + "\n"
		for _, id := range anOriginal.FindAllString(got, -1) {
			if len(t.ids) == 0 || t.ids[0] != id {
				t.ids = append([]string{id}, t.ids...)
			}
		}
		answered = ok && strings.HasPrefix(got, `{"jsonrpc":"2.0","method"`)
	}
	t.all = append(t.all, x)
}

func (t *talk) receive() (line string, ok bool) {
	select {
	case line, ok = <-t.lines:
		if !ok {
			return "the program has ended", false
		}
		return line, true
	case <-time.After(patience):
		return "no answer", false
	}
}

// scan sends the lines of a stream, which may be long, and closes the channel at the end of the stream.
func scan(from io.Reader, to chan<- string) {
	defer close(to)
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			to <- strings.TrimSuffix(line, "\n")
		}
		if err != nil {
			return
		}
	}
}
