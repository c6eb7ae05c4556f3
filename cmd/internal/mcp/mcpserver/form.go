package mcpserver

import (
	"encoding/json"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/states"
)

// Form describes how a mount of the server differs from MCP: the line pruner's own contract has other
// methods and answers over the same machine.
type Form struct {
	Name string // the server's name in initialize; "": Name
	// Methods are JSON-RPC methods that call a tool directly: params are its arguments.
	Methods map[string]Method
	// Aliases are other names of tools.
	Aliases map[string]string
	// Results are constant answers by method.
	Results map[string]any
	// Plain reduces a result to its text.
	Plain bool
}

// Method is the tool called by a JSON-RPC method.
type Method struct {
	Tool string
	Bare bool // the result is the tool's JSON itself, without content
}

// direct converts a call of a direct method to a tools/call. It also resolves the tool's aliases and adds
// missing arguments.
func (f Form) direct(m Message) Message {
	if m.fault != 0 || m.ID == nil {
		return m
	}
	method, direct := f.Methods[m.Method]
	p := m.params()
	switch {
	case direct:
		arguments := p.value
		if arguments == nil {
			arguments = map[string]any{}
		}
		m.direct, m.named, m.Method = m.Method, m.Method, "tools/call"
		m.bare = method.Bare
		p = newParams(map[string]any{"name": method.Tool, "arguments": arguments})
	case m.Method == "tools/call" && f.Plain && p.object != nil:
		if name, ok := f.Aliases[m.ToolName()]; ok {
			m.named = m.ToolName()
			p.object["name"] = name
		}
		p.argumentsOrNone()
	case m.Method == "initialize" && f.Plain && p.value == nil:
		p = newParams(map[string]any{})
	}
	if m.Method == "initialize" && f.Plain && p.object != nil {
		if _, given := p.object["protocolVersion"]; !given {
			p.object["protocolVersion"] = Versions[1] // the newest version with a handshake
		}
	}
	m.lazy = new(lazyParams)
	m.lazy.once.Do(func() { m.lazy.decoded = p })
	return m
}

// encode encodes a result in the server's form, or returns nil if that is MCP's.
func (f Form) encode(a asked, answer states.Answer) (body []byte, err error) {
	switch {
	case a.alone && answer.IsError:
		return []byte{}, nil
	case a.alone:
		return []byte(answer.Text), nil
	case a.bare && !answer.IsError:
		return encodeResult(a.id, json.RawMessage(answer.Text))
	case f.Plain:
		return encodeResult(a.id, struct {
			Content []textContent `json:"content"`
			IsError bool          `json:"isError"`
		}{[]textContent{{"text", answer.Text}}, answer.IsError})
	}
	return nil, nil
}

// plainIssues returns issues with paths relative to the arguments, which are all that the caller of a
// direct method sent.
func plainIssues(issues []states.Issue) []states.Issue {
	plain := make([]states.Issue, len(issues))
	for i, issue := range issues {
		path := strings.TrimPrefix(strings.TrimPrefix(issue.Path, "arguments"), ".")
		plain[i] = states.NewIssue(path, issue.Code)
	}
	return plain
}
