package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-pruner/mcp-pruner/cmd/internal/mcp/mcpserver"
	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream/connect"
)

// Features returns the servers' resources, prompts and other features beside tools.
func (g *Gateway) Features() *mcpserver.Features {
	return &mcpserver.Features{Greet: g.greet, Await: g.await, End: g.ended, Offered: g.featuresOffered, Answer: g.answer, Watch: g.watch}
}

// featuresOffered returns the features that some server has, or may have because it has not answered yet.
func (g *Gateway) featuresOffered() (f mcpserver.Offered) {
	for _, s := range g.servers {
		o, known, _ := s.Offer()
		has := o.Capabilities
		f.Subscribe = f.Subscribe || !known || has.Resources != nil && has.Resources.Subscribe
		f.Completions = f.Completions || !known || has.Completions != nil
		f.Logging = f.Logging || !known || has.Logging != nil
		f.Tasks = f.Tasks || has.Tasks != nil
	}
	return f
}

// request is a client's request for a feature.
type request struct {
	*Gateway
	caller *mcpserver.Caller
	method string
	params map[string]any
}

// answer answers a client's request.
func (g *Gateway) answer(ctx context.Context, c *mcpserver.Caller, method string, raw json.RawMessage) (json.RawMessage, *tools.RPCError) {
	params, _ := decoded(raw).(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	for name, value := range spelled(raw) {
		if name == "arguments" || name == "argument" {
			params[name] = value
		}
	}
	r := request{g, c, method, params}
	switch method {
	case "resources/list", "resources/templates/list", "prompts/list":
		if params["cursor"] != nil {
			return nil, invalid("cursor: the list has one page")
		}
		return g.catalog().list(method), nil
	case "resources/read":
		return r.read(ctx)
	case "resources/subscribe", "resources/unsubscribe":
		return r.subscribe(ctx)
	case "prompts/get":
		return r.prompt(ctx)
	case "completion/complete":
		return r.complete(ctx)
	case "logging/setLevel":
		return r.setLevel(ctx)
	case "tasks/list":
		return r.tasks(ctx)
	}
	return r.task(ctx)
}

// unwatchWithin is the time for which the end of a subscription waits for servers.
const unwatchWithin = 3 * time.Second

func invalid(format string, args ...any) *tools.RPCError {
	return &tools.RPCError{Code: -32602, Message: fmt.Sprintf(format, args...)}
}

// to sends a request to a server, with its params as they are now.
func (r request) to(ctx context.Context, server string) (json.RawMessage, *tools.RPCError) {
	s, done, refusal := r.reach(r.caller, server)
	if refusal != nil {
		return nil, &tools.RPCError{Code: -32603, Message: refusal.Message}
	}
	defer done()
	return s.Request(ctx, r.method, r.params, r.caller.Meta(), r.callerAt(r.caller, server))
}

// resolve returns the server that a URI belongs to, and the server's own form of it: the server whose part it begins with, else
// the one that gave the URI to the client in a result, else the only one that has such a resource. No server can give what
// begins with another's part, or it would be asked for what the other offers.
func (r request) resolve(uri string) (server, own string, refusal *tools.RPCError) {
	holder, _ := r.caller.Holder()
	givers := r.given.by(holder, uri)
	server, own = r.offered(uri)
	switch {
	case slices.Contains(givers, server): // its own URI looks like an offered one
		return server, uri, nil
	case server != "":
		return server, own, nil
	case len(givers) == 1:
		return givers[0], uri, nil
	case len(givers) > 1:
		return "", "", invalid("several servers gave this URI; ask for one of %s", strings.Join(r.offeredForms(givers, uri), ", "))
	}
	switch owners := r.catalog().owners(uri); len(owners) {
	case 0:
		return "", "", &tools.RPCError{Code: -32002, Message: "there is no such resource", Data: encoded(map[string]string{"uri": uri})}
	case 1:
		return owners[0], uri, nil
	default:
		return "", "", invalid("several servers have that resource; ask for one of %s", strings.Join(r.offeredForms(owners, uri), ", "))
	}
}

// offered returns the server whose part a URI begins with, and the rest, or "".
func (r request) offered(uri string) (server, own string) {
	for _, s := range r.servers {
		if own, ok := r.names(s.Name()).Original(uri); ok {
			return s.Name(), own
		}
	}
	return "", ""
}

// offeredForms returns the forms under which servers' own URI can be asked for.
func (r request) offeredForms(servers []string, uri string) (forms []string) {
	for _, server := range servers {
		forms = append(forms, r.names(server).URI(uri))
	}
	return forms
}

// noted notes the URIs that a server gives the client in a result, which is passed on as it is.
func (r request) noted(server string, result json.RawMessage) {
	holder, _ := r.caller.Holder()
	r.given.note(holder, server, result)
}

// read reads a resource. Its contents have offered URIs if the client asked for one.
func (r request) read(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	uri, _ := r.params["uri"].(string)
	server, own, refusal := r.resolve(uri)
	if refusal != nil {
		return nil, refusal
	}
	r.params["uri"] = own
	result, refusal := r.to(ctx, server)
	if refusal != nil || own == uri {
		r.noted(server, result)
		return result, refusal
	}
	return inMember(result, "contents", func(raw json.RawMessage) json.RawMessage {
		var contents []json.RawMessage
		if json.Unmarshal(raw, &contents) != nil {
			return raw
		}
		for i := range contents {
			contents[i] = inMember(contents[i], "uri", func(own json.RawMessage) json.RawMessage { return inString(own, r.names(server).URI) })
		}
		return encoded(contents)
	}), nil
}

// subscribe begins or ends a subscription of a session's client, which hears of updates under the URI that it gave.
func (r request) subscribe(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	uri, _ := r.params["uri"].(string)
	server, own, refusal := r.resolve(uri)
	if refusal != nil {
		return nil, refusal
	}
	if r.caller.Alone() {
		return nil, invalid("a subscription belongs to a session, and this request to none")
	}
	s, done, full := r.reach(r.caller, server)
	if full != nil {
		return nil, &tools.RPCError{Code: -32603, Message: full.Message}
	}
	defer done()
	if r.method == "resources/unsubscribe" {
		return s.Unwatch(ctx, own, r.caller.Session(), r.callerAt(r.caller, server))
	}
	standing := r.caller.Standing()
	return s.Watch(ctx, own, r.caller.Session(), func(updated string) {
		standing.Notify("notifications/resources/updated", map[string]any{"uri": strings.TrimSuffix(uri, own) + updated})
	}, r.callerAt(r.caller, server))
}

// watch serves a subscription of protocol 2026-07-28.
func (g *Gateway) watch(ctx context.Context, c *mcpserver.Caller, uris []string, updated func(string)) (watched []string, end func()) {
	var ends []func()
	key := new(int) // one for each subscription
	for _, uri := range uris {
		r := request{g, c, "resources/subscribe", nil}
		server, own, refusal := r.resolve(uri)
		if refusal != nil {
			continue
		}
		s, done, full := g.reach(c, server)
		if full != nil {
			continue
		}
		from := g.callerAt(c, server)
		_, refusal = s.Watch(ctx, own, key, func(changed string) { updated(strings.TrimSuffix(uri, own) + changed) }, from)
		if refusal != nil {
			done()
			continue
		}
		watched = append(watched, uri)
		ends = append(ends, func() {
			ctx, cancel := context.WithTimeout(g.life, unwatchWithin)
			defer cancel()
			_, _ = s.Unwatch(ctx, own, key, from) // a server that is gone sends no updates
			done()
		})
	}
	return watched, func() {
		var all sync.WaitGroup
		for _, end := range ends {
			all.Go(end)
		}
		all.Wait()
	}
}

func (r request) prompt(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	name, _ := r.params["name"].(string)
	prompt, ok := r.catalog().prompts[name]
	if !ok {
		return nil, invalid("there is no prompt %q", name)
	}
	r.params["name"] = prompt.name
	result, refusal := r.to(ctx, prompt.server)
	r.noted(prompt.server, result)
	return result, refusal
}

// complete completes an argument of a prompt or of a template.
func (r request) complete(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	ref, _ := r.params["ref"].(map[string]any)
	name, _ := ref["name"].(string)
	uri, _ := ref["uri"].(string)
	server := ""
	if prompt, ok := r.catalog().prompts[name]; ok && ref["type"] == "ref/prompt" {
		server, ref["name"] = prompt.server, prompt.name
	} else if ref["type"] == "ref/resource" {
		found, own, refusal := r.resolve(uri)
		if refusal != nil {
			return nil, refusal
		}
		server, ref["uri"] = found, own
	}
	if server == "" {
		return nil, invalid("ref names no prompt and no resource of any server")
	}
	if o, known, _ := r.server(server).Offer(); known && o.Capabilities.Completions == nil {
		return encoded(map[string]any{"completion": map[string]any{"values": []string{}}}), nil
	}
	return r.to(ctx, server)
}

// setLevel sets the level of a session, at the servers that it is connected to now and later.
func (r request) setLevel(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	level, _ := r.params["level"].(string)
	holder, _ := r.caller.Holder()
	servers := r.links.of(holder)
	for _, s := range r.servers {
		if r.options.OneClient || s.Stateless() {
			servers = append(servers, s)
		}
	}
	if err := connect.CheckLevel(level); err != nil {
		return nil, invalid("%v", err)
	}
	r.caller.SetLogLevel(level)
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { _ = s.SetLevel(ctx, level) }) // checked above
	}
	all.Wait()
	return json.RawMessage("{}"), nil
}

// task asks a server for one of its tasks.
func (r request) task(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	id, _ := r.params["taskId"].(string)
	for _, s := range r.servers {
		names := r.names(s.Name())
		own, ok := names.Original(id)
		if !ok {
			continue
		}
		r.params["taskId"] = own
		result, refusal := r.to(ctx, s.Name())
		if r.method == "tasks/result" { // the result of the call itself
			r.noted(s.Name(), result)
			return inMember(result, "_meta", func(meta json.RawMessage) json.RawMessage {
				return inMember(meta, relatedTask, func(task json.RawMessage) json.RawMessage { return renameTask(task, names) })
			}), refusal
		}
		return renameTask(result, names), refusal
	}
	return nil, invalid("there is no task %q", id)
}

// tasks lists the tasks of all servers that list theirs. A server that fails has none.
func (r request) tasks(ctx context.Context) (json.RawMessage, *tools.RPCError) {
	all := []json.RawMessage{}
	for _, s := range r.servers {
		if o, _, _ := s.Offer(); o.Capabilities.Tasks == nil {
			continue
		}
		r.params = map[string]any{}
		result, refusal := r.to(ctx, s.Name())
		var page struct{ Tasks []json.RawMessage }
		if refusal != nil || json.Unmarshal(result, &page) != nil {
			continue
		}
		for _, task := range page.Tasks {
			all = append(all, renameTask(task, r.names(s.Name())))
		}
	}
	return encoded(map[string]any{"tasks": all}), nil
}
