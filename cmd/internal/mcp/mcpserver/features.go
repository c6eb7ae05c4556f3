package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// greet introduces the client of a request to the features.
func (s *Server) greet(ctx context.Context, session *Session, m Message) {
	if f := s.config.Features; f != nil {
		f.Greet(ctx, &Caller{session: session, notify: session.send, params: params{meta: m.params().meta}, standing: true})
	}
}

// End ends a session: its calls are cancelled, and the features keep nothing for it.
func (s *Server) End(session *Session) {
	session.cancelAll()
	if f := s.config.Features; f != nil {
		f.End(session.standing())
	}
}

// feature answers a request for a feature.
func (s *Server) feature(ctx context.Context, session *Session, m Message) Reply {
	p := m.params()
	if why := checkCall(m, p); why != nil {
		return s.Refuse(ctx, session, m, why)
	}
	a := s.asked(session, m, p)
	if issues := checkPlain(p); len(issues) > 0 {
		return Reply{body: s.encodeIssues(a, issues)}
	}
	if p.modern() && !featureMethods[m.Method] {
		return Reply{body: encodeError(m.ID, codeMethodNotFound, nil), call: s.run(ctx, session, "there is no such method")}
	}
	caller := callerOf(session, m)
	free := s.quick.acquire(ctx, [2]any{session.group(a.client), "features"}, [2]any{session.key(a.client), "features"})
	result, refused := s.config.Features.Answer(ctx, caller, m.Method, m.Params)
	free()
	switch {
	case ctx.Err() != nil: // the client cancelled it and expects no answer
		return Reply{}
	case refused != nil:
		body, err := encode(m.ID, "error", refused)
		return Reply{body: body, err: err}
	case p.modern():
		result = s.modernResult(m.Method, result)
	}
	body, err := encodeResult(m.ID, result)
	return Reply{body: body, err: err}
}

// lasting are the methods whose results say how long they may be kept.
var lasting = map[string]bool{"resources/list": true, "resources/templates/list": true, "resources/read": true, "prompts/list": true}

// modernResult adds the members that protocol 2026-07-28 requires in results of a server that speaks an older one.
func (s *Server) modernResult(method string, raw json.RawMessage) json.RawMessage {
	var result map[string]json.RawMessage
	if json.Unmarshal(raw, &result) != nil || result == nil {
		return raw
	}
	add := func(key string, value any) {
		if _, there := result[key]; !there {
			result[key] = plain(value)
		}
	}
	add("resultType", mcp.ResultTypeComplete)
	if lasting[method] {
		add("ttlMs", 0)
		add("cacheScope", mcp.CacheScopePrivate)
	}
	meta := map[string]json.RawMessage{}
	_ = json.Unmarshal(result["_meta"], &meta) // none, or not an object
	meta[serverInfoKey] = plain(s.implementation())
	result["_meta"] = plain(meta)
	return plain(result)
}

func (s *Server) withFeatures(c mcp.ServerCapabilities, modern bool) mcp.ServerCapabilities {
	f := s.config.Features
	if f == nil {
		return c
	}
	offered := f.Offered()
	c.Resources = &struct {
		Subscribe   bool `json:"subscribe,omitempty"`
		ListChanged bool `json:"listChanged,omitempty"`
	}{offered.Subscribe, true}
	c.Prompts = &struct {
		ListChanged bool `json:"listChanged,omitempty"`
	}{true}
	if offered.Completions {
		c.Completions = &struct{}{}
	}
	if offered.Logging {
		c.Logging = &struct{}{}
	}
	if offered.Tasks && !modern {
		c.Tasks = &mcp.TasksCapability{List: &struct{}{}, Cancel: &struct{}{}, Requests: &mcp.TaskRequestsCapability{}}
		c.Tasks.Requests.Tools = &struct {
			Call *struct{} `json:"call,omitempty"`
		}{&struct{}{}}
	}
	return c
}

// await waits for the tool that a call names, and returns why it is not there.
func (s *Server) await(ctx context.Context, p params) (why string) {
	name, ok := p.name()
	if f := s.config.Features; ok && f != nil && f.Await != nil {
		return f.Await(ctx, name)
	}
	return ""
}
