package prefix

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// Request is a request to a model's API.
type Request struct {
	API  string // as wire.API.Name
	Body []byte
}

// Names of the APIs, as in package wire.
const (
	messagesAPI  = "anthropic-messages"
	responsesAPI = "openai-responses"
	chatAPI      = "openai-chat"
	geminiAPI    = "gemini"
)

// errNoRequest says that a text is no request of an API that is known.
var errNoRequest = errors.New("not a request of the Messages, Responses, Chat Completions or Gemini API")

// RecordedRequest returns the request in a text, whose API it determines by its members.
func RecordedRequest(body []byte) (Request, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return Request{}, errNoRequest
	}
	_, input := members["input"]
	_, contents := members["contents"]
	_, messages := members["messages"]
	switch {
	case contents:
		return Request{geminiAPI, body}, nil
	case input:
		return Request{responsesAPI, body}, nil
	case messages && (bytes.Contains(members["tools"], []byte(`"function"`)) || strings.Contains(string(members["messages"]), `"role":"system"`) && members["system"] == nil):
		return Request{chatAPI, body}, nil
	case messages:
		return Request{messagesAPI, body}, nil
	}
	return Request{}, errNoRequest
}

// Tools returns the names of the tools that a request defines.
func (r Request) Tools() (names []string) {
	content, err := r.decode()
	if err != nil {
		return nil
	}
	for _, t := range content.tools {
		names = append(names, t.Name)
	}
	return names
}

// HasTool reports whether the request defines one of some tools.
func (r Request) HasTool(names []string) bool {
	return slices.ContainsFunc(r.Tools(), func(name string) bool { return slices.Contains(names, name) })
}

// Save writes the request into a new file that only its owner can read.
func (r Request) Save(path string) error {
	err := files.Atomic{Path: path, New: true}.Write(r.Body)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; name a new file", path)
	}
	return err
}

// requestContent has the members that the requests of every API have in some form.
type requestContent struct {
	model  string
	system []string
	tools  []requestTool
	texts  []string // of messages
	rest   []string // blocks that are no text, as JSON
}

type requestTool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of its arguments; or a whole definition in another form
	Server      string          // where the request names it
}

func (r Request) decode() (c requestContent, err error) {
	switch r.API {
	case messagesAPI:
		return decodeMessages(r.Body)
	case responsesAPI:
		return decodeResponses(r.Body)
	case chatAPI:
		return decodeChat(r.Body)
	case geminiAPI:
		return decodeGemini(r.Body)
	}
	return c, errNoRequest
}

// requestBlock is a text, or a block of another kind.
type requestBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// blocks adds the texts of a value that is a text or a list of blocks.
func (c *requestContent) blocks(v json.RawMessage, to *[]string) {
	var text string
	if json.Unmarshal(v, &text) == nil {
		*to = append(*to, text)
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		if len(v) > 0 && string(v) != "null" {
			c.rest = append(c.rest, string(v))
		}
		return
	}
	for _, raw := range list {
		var b requestBlock
		if json.Unmarshal(raw, &b) == nil && b.Text != "" {
			*to = append(*to, b.Text)
			continue
		}
		c.rest = append(c.rest, string(raw))
	}
}

type requestMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

func decodeMessages(body []byte) (c requestContent, err error) {
	var r struct {
		Model    string
		System   json.RawMessage
		Messages []requestMessage
		Tools    []json.RawMessage
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return c, err
	}
	c.model = r.Model
	c.blocks(r.System, &c.system)
	for _, raw := range r.Tools {
		var t struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		}
		if json.Unmarshal(raw, &t) != nil || t.Schema == nil {
			t.Schema = raw // a tool of the API's own
		}
		c.tools = append(c.tools, requestTool{t.Name, t.Description, t.Schema, ""})
	}
	for _, m := range r.Messages {
		c.blocks(m.Content, &c.texts)
	}
	return c, nil
}

func decodeChat(body []byte) (c requestContent, err error) {
	var r struct {
		Model    string
		Messages []requestMessage
		Tools    []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return c, err
	}
	c.model = r.Model
	for _, t := range r.Tools {
		c.tools = append(c.tools, requestTool{t.Function.Name, t.Function.Description, t.Function.Parameters, ""})
	}
	for _, m := range r.Messages {
		c.message(m)
	}
	return c, nil
}

func (c *requestContent) message(m requestMessage) {
	to := &c.texts
	if m.Role == "system" || m.Role == "developer" {
		to = &c.system
	}
	c.blocks(m.Content, to)
}

func decodeResponses(body []byte) (c requestContent, err error) {
	var r struct {
		Model        string
		Instructions string
		Input        json.RawMessage
		Tools        []responsesTool
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return c, err
	}
	c.model = r.Model
	if r.Instructions != "" {
		c.system = append(c.system, r.Instructions)
	}
	for _, t := range r.Tools {
		c.responsesTool(t)
	}
	var items []json.RawMessage
	if json.Unmarshal(r.Input, &items) != nil {
		c.blocks(r.Input, &c.texts)
	}
	for _, raw := range items {
		var m struct {
			requestMessage
			Type  string
			Tools []responsesTool
		}
		if json.Unmarshal(raw, &m) == nil && m.Type == "additional_tools" {
			for _, t := range m.Tools {
				c.responsesTool(t)
			}
			continue
		}
		if m.Content == nil {
			c.rest = append(c.rest, string(raw))
			continue
		}
		c.message(m.requestMessage)
	}
	return c, nil
}

// responsesTool is a tool of the Responses API: a function, a namespace with functions, or one of the API's own.
type responsesTool struct {
	Type, Name, Description string
	Parameters              json.RawMessage
	Format                  json.RawMessage
	Tools                   []responsesTool
}

func (c *requestContent) responsesTool(t responsesTool) {
	if t.Type != "namespace" {
		schema := t.Parameters
		if schema == nil {
			schema = t.Format
		}
		c.tools = append(c.tools, requestTool{cmp.Or(t.Name, t.Type), t.Description, schema, ""})
		return
	}
	for i, inner := range t.Tools {
		if i == 0 {
			inner.Description = t.Description + "\n" + inner.Description
		}
		if t.Name != ownTools {
			inner.Name = t.Name + "__" + inner.Name
		}
		at := len(c.tools)
		c.responsesTool(inner)
		for i := range c.tools[at:] {
			if t.Name != ownTools {
				c.tools[at+i].Server = t.Name
			}
		}
	}
}

// ownTools is the namespace that Codex gives its own tools in code mode.
const ownTools = "functions"

func decodeGemini(body []byte) (c requestContent, err error) {
	type parts struct{ Parts json.RawMessage }
	var r struct {
		SystemInstruction parts `json:"systemInstruction"`
		Contents          []parts
		Tools             []struct {
			FunctionDeclarations []struct {
				Name, Description    string
				Parameters           json.RawMessage
				ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return c, err
	}
	c.blocks(r.SystemInstruction.Parts, &c.system)
	for _, list := range r.Tools {
		for _, t := range list.FunctionDeclarations {
			schema := t.Parameters
			if schema == nil {
				schema = t.ParametersJSONSchema
			}
			c.tools = append(c.tools, requestTool{t.Name, t.Description, schema, ""})
		}
	}
	for _, m := range r.Contents {
		c.blocks(m.Parts, &c.texts)
	}
	return c, nil
}

// defined returns the text of a definition as a model sees it: as in the report of the gateway.
func (t requestTool) defined() string {
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage("{}")
	}
	var b bytes.Buffer
	if json.Compact(&b, slices.Clone(schema)) != nil {
		b.Reset()
		b.WriteString("{}")
	}
	return `{"description":` + string(jsonspan.Encode(t.Description)) + `,"input_schema":` + b.String() + `,"name":` + string(jsonspan.Encode(t.Name)) + `}`
}
