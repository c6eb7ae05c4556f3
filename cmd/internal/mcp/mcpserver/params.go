package mcpserver

import (
	"encoding/json"
	"regexp"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/states"
	"github.com/mcp-pruner/mcp-pruner/tools/agent"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// Keys of _meta. From protocol 2026-07-28 on, every request and result carries in them the information that
// older clients and servers exchange once in initialize.
const (
	clientInfoKey      = "io.modelcontextprotocol/clientInfo"
	protocolVersionKey = "io.modelcontextprotocol/protocolVersion"
	serverInfoKey      = "io.modelcontextprotocol/serverInfo"
	capabilitiesKey    = "io.modelcontextprotocol/clientCapabilities"
	logLevelKey        = "io.modelcontextprotocol/logLevel"
)

// params are a request's params after decoding.
type params struct {
	value  any            // numbers keep their spelling; nil: absent
	object map[string]any // nil: the value is not an object
	meta   map[string]any // its _meta; nil: absent or not an object
}

func newParams(value any) params {
	p := params{value: value}
	p.object, _ = value.(map[string]any)
	p.meta, _ = p.object["_meta"].(map[string]any)
	return p
}

// decode decodes params, which were found to be valid JSON. It returns nil if there are none.
func decode(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	v, _ := jsonspan.Decode(raw)
	return v
}

// version returns the protocol version that the request itself names, or "" for older protocols, which name
// it once in initialize.
func (p params) version() string {
	version, _ := p.meta[protocolVersionKey].(string)
	return version
}

// modern reports whether the request uses protocol 2026-07-28 or later.
func (p params) modern() bool { return mcp.IsModernProtocol(p.version()) }

// client returns the client's name from the request itself; said is false if the request has none.
func (p params) client() (name string, said bool) {
	info, _ := p.meta[clientInfoKey].(map[string]any)
	name, said = info["name"].(string)
	return shortName(name), said
}

// traceparent and noSpan match a span in the notation of W3C Trace Context, and the version and ids that it forbids.
var (
	traceparent = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)
	})
	noSpan = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ff|-0{32}-|-0{16}-`) })
)

// parent returns the caller's span, or "" if the request names none or an invalid one.
func (p params) parent() string {
	span, _ := p.meta["traceparent"].(string)
	if !traceparent().MatchString(span) || noSpan().MatchString(span) {
		return ""
	}
	return span
}

// model returns the model on whose behalf the client calls, or "" if unknown.
func (p params) model() string {
	for _, c := range agent.Clients {
		said := p.meta[c.ModelIn]
		if said == nil || c.ModelIn == "" {
			continue
		}
		turn, _ := said.(map[string]any)
		if text, ok := said.(string); ok {
			_ = json.Unmarshal([]byte(text), &turn) // on an error turn stays empty
		}
		if model, ok := turn["model"].(string); ok {
			return model
		}
	}
	return ""
}

// name returns params.name, which is the tool's name in a tools/call.
func (p params) name() (string, bool) {
	name, ok := p.object["name"].(string)
	return name, ok
}

// argumentsOrNone adds an empty arguments object to a call without arguments. Some clients write null for none.
func (p params) argumentsOrNone() {
	if p.object["arguments"] == nil && p.object != nil {
		p.object["arguments"] = map[string]any{}
	}
}

// maxNameBytes is the number of bytes kept of a client's name.
const maxNameBytes = 256

// shortName returns a name cut to maxNameBytes at a rune boundary.
func shortName(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	end := maxNameBytes
	for end > 0 && name[end]&0xC0 == 0x80 {
		end--
	}
	return string([]byte(name[:end])) // a copy, so that the rest can be freed
}

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

// checkMeta checks the _meta members that protocol 2026-07-28 and later requires.
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

// checkList checks the params of tools/list. The list has a single page, so that no cursor is valid.
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
