package mcpserver

import (
	"bytes"
	"encoding/json"
	"regexp"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"mcp-pruner/states"
)

// clientInfoKey is where a request of protocol 2026-07-28 or later carries what
// older clients say once in initialize.
const (
	clientInfoKey      = "io.modelcontextprotocol/clientInfo"
	protocolVersionKey = "io.modelcontextprotocol/protocolVersion"
	serverInfoKey      = "io.modelcontextprotocol/serverInfo"
	capabilitiesKey    = "io.modelcontextprotocol/clientCapabilities"
)

// params are a request's params, decoded once.
type params struct {
	value  any            // with numbers as they are spelled; nil: absent
	object map[string]any // nil: the value is no object
	meta   map[string]any // its _meta; nil: none, or no object
}

// lazyParams decodes params when they are asked for first: whoever reads messages
// does not wait for large ones.
type lazyParams struct {
	once    sync.Once
	decoded params
}

// params decodes the message's params.
func (m Message) params() params {
	if m.lazy == nil {
		return newParams(decode(m.Params))
	}
	m.lazy.once.Do(func() { m.lazy.decoded = newParams(decode(m.Params)) })
	return m.lazy.decoded
}

func newParams(value any) params {
	p := params{value: value}
	p.object, _ = value.(map[string]any)
	p.meta, _ = p.object["_meta"].(map[string]any)
	return p
}

// decode reads JSON with numbers kept as they are spelled; nil stays nil.
func decode(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// version is the protocol version that the request itself names; "" for the older
// ones, which name it once.
func (p params) version() string {
	version, _ := p.meta[protocolVersionKey].(string)
	return version
}

// modern says whether the request is one of protocol 2026-07-28 or later.
func (p params) modern() bool { return mcp.IsModernProtocol(p.version()) }

// client is the client's name as the request itself says it.
func (p params) client() (name string, said bool) {
	info, _ := p.meta[clientInfoKey].(map[string]any)
	name, said = info["name"].(string)
	return shortName(name), said
}

// traceparent is how W3C Trace Context spells a span.
var traceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// parent is the caller's span; "" when it named none, or none that can be read.
func (p params) parent() string {
	span, _ := p.meta["traceparent"].(string)
	if !traceparent.MatchString(span) {
		return ""
	}
	return span
}

// model is the model that the client says it calls for; "" when it does not say. Codex
// does, in an object or in its JSON.
func (p params) model() string {
	turn, _ := p.meta["x-codex-turn-metadata"].(map[string]any)
	if text, ok := p.meta["x-codex-turn-metadata"].(string); ok {
		_ = json.Unmarshal([]byte(text), &turn) // what cannot be read says nothing
	}
	model, _ := turn["model"].(string)
	return model
}

// name is params.name, of a tools/call the tool's.
func (p params) name() (string, bool) {
	name, ok := p.object["name"].(string)
	return name, ok
}

// argumentsOrNone makes a call without arguments one with an empty object of them.
func (p params) argumentsOrNone() {
	if _, given := p.object["arguments"]; !given && p.object != nil {
		p.object["arguments"] = map[string]any{}
	}
}

// maxNameBytes bounds what is kept of a client's name.
const maxNameBytes = 256

// shortName is a name, cut where a rune begins.
func shortName(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	end := maxNameBytes
	for end > 0 && name[end]&0xC0 == 0x80 {
		end--
	}
	return string([]byte(name[:end])) // a copy: the rest can go
}

// checkInitialize checks the params of initialize.
func checkInitialize(p params) (issues []states.Issue) {
	if p.object == nil {
		return []states.Issue{states.NewIssue("", "invalid_type")}
	}
	want := func(ok bool, path string) {
		if !ok {
			issues = append(issues, states.NewIssue(path, "invalid_type"))
		}
	}
	_, ok := p.object["protocolVersion"].(string)
	want(ok, "protocolVersion")
	if c, has := p.object["capabilities"]; has {
		_, ok = c.(map[string]any)
		want(ok, "capabilities")
	}
	if c, has := p.object["clientInfo"]; has {
		info, ok := c.(map[string]any)
		want(ok, "clientInfo")
		if ok {
			_, ok = info["name"].(string)
			want(ok, "clientInfo.name")
			version, has := info["version"]
			_, ok = version.(string)
			want(ok || !has, "clientInfo.version")
		}
	}
	return states.SortIssues(append(issues, checkMeta(p)...))
}

// checkPlain checks the params of a request that needs none.
func checkPlain(p params) []states.Issue {
	switch {
	case p.value == nil:
		return nil
	case p.object == nil:
		return []states.Issue{states.NewIssue("", "invalid_type")}
	}
	return checkMeta(p)
}

// checkMeta checks what protocol 2026-07-28 and later wants in _meta.
func checkMeta(p params) []states.Issue {
	if _, has := p.object["_meta"]; has && p.meta == nil {
		return []states.Issue{states.NewIssue("_meta", "invalid_type")}
	}
	if !p.modern() {
		return nil
	}
	if _, ok := p.meta[capabilitiesKey].(map[string]any); !ok {
		return []states.Issue{states.NewIssue("_meta."+capabilitiesKey, "invalid_type")}
	}
	return nil
}

// checkList checks the params of tools/list. There is one page, so no cursor of
// ours exists for a client to send.
func checkList(p params) []states.Issue {
	issues := checkPlain(p)
	if cursor, has := p.object["cursor"]; has {
		code := "invalid_type"
		if _, ok := cursor.(string); ok {
			code = "custom"
		}
		issues = append(issues, states.NewIssue("cursor", code))
	}
	return states.SortIssues(issues)
}
