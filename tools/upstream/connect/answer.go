package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcp-pruner/mcp-pruner/tools"
	"github.com/mcp-pruner/mcp-pruner/tools/jsonspan"
)

// unavailable returns the error for a server that is not connected. It names the server and says what
// happens next.
func unavailable(c Config, err error) *tools.Error {
	if c.Problem != "" {
		return &tools.Error{Code: "upstream_unavailable",
			Message: fmt.Sprintf("the MCP server %s is not there: %s. Correct the entry and start the gateway anew; the other tools work.", c.Name, redacted(err, c))}
	}
	return &tools.Error{Code: "upstream_unavailable",
		Message: fmt.Sprintf("the MCP server %s did not answer: %s. It is started anew with the next call; the other tools work.", c.Name, redacted(err, c))}
}

// refused returns an upstream's JSON-RPC error unchanged.
func refused(c Config, result *transport.JSONRPCResponse) *tools.Error {
	failed := &tools.RPCError{Code: result.Error.Code, Message: result.Error.Message}
	if result.Error.Data != nil {
		failed.Data, _ = json.Marshal(result.Error.Data) // decoded from JSON before
	}
	return &tools.Error{Code: "upstream_error", Message: withoutSecrets(c.Name+": "+failed.Message, c), Opaque: &tools.Opaque{RPC: failed}}
}

// passed returns an upstream's result unchanged but for a note after its content, if there is one. Only protocol 2026-07-28 has results that ask for input, and the
// gateway speaks an older one with its upstreams, which then ask by requests. So a result that asks is an error: the
// model would take it for an empty output.
func passed(c Config, raw json.RawMessage, note string) (Answer, error) {
	members, err := jsonspan.Members(raw)
	o, kind := &tools.Opaque{Content: []json.RawMessage{}, Structured: members["structuredContent"]}, mcp.ResultType("")
	take := func(value json.RawMessage, into any) {
		if value != nil && err == nil {
			err = json.Unmarshal(value, into)
		}
	}
	if members == nil { // null, which is an empty result, or no object
		take(raw, &members)
	}
	take(members["_meta"], &o.Meta)
	take(members["isError"], &o.IsError)
	take(members["resultType"], &kind)
	if blocks, _ := jsonspan.Elements(members["content"]); blocks != nil {
		o.Content = blocks
	} else { // null or missing, or no array
		take(members["content"], &o.Content)
	}
	if err != nil {
		return Answer{}, &tools.Error{Code: "upstream_error", Message: fmt.Sprintf("the MCP server %s sent something that is no result: %v", c.Name, err)}
	}
	if kind == mcp.ResultTypeInputRequired {
		return Answer{}, &tools.Error{Code: "upstream_error", Message: fmt.Sprintf("the MCP server %s asks for input by a result, which protocol %s does not have",
			c.Name, mcp.LATEST_LEGACY_PROTOCOL_VERSION)}
	}
	if o.Content == nil { // null
		o.Content = []json.RawMessage{}
	}
	o.More = more(members)
	if note != "" {
		o.Content = append(o.Content, textBlock(note))
	}
	text := textOf(o.Content)
	if o.IsError {
		return Answer{}, &tools.Error{Code: "upstream_error", Message: cutText(withoutSecrets(text, c)), Opaque: o}
	}
	return Answer{text: text, opaque: o}, nil
}

// more returns the members of a result that no field of Opaque has, such as the task of a call that goes on.
func more(members map[string]json.RawMessage) map[string]json.RawMessage {
	rest := maps.Clone(members)
	for _, known := range []string{"content", "structuredContent", "_meta", "isError", "resultType"} {
		delete(rest, known)
	}
	if len(rest) > 0 && members["content"] == nil {
		rest["content"] = nil
	}
	return rest
}

// textOf returns the texts of content blocks, for the trace and the ledger.
func textOf(blocks []json.RawMessage) string {
	var texts []string
	for _, raw := range blocks {
		if text, ok := blockText(raw); ok {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

func blockText(raw json.RawMessage) (string, bool) {
	members, _ := jsonspan.Members(raw)
	if kind, _ := jsonspan.Decode(members["type"]); kind != "text" {
		return "", false
	}
	value, _ := jsonspan.Decode(members["text"])
	text, ok := value.(string)
	return text, ok || value == nil // a block without a text is empty
}

// maxMessage is the number of bytes of an error's text kept in the log and the trace.
const maxMessage = 500

func cutText(text string) string {
	if text = strings.TrimSpace(text); len(text) > maxMessage {
		return strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// Answer is the result of an upstream call.
type Answer struct {
	text   string
	opaque *tools.Opaque
}

func (a Answer) Code() string          { return a.text }
func (a Answer) Source() tools.Source  { return tools.Source{} }
func (a Answer) Text() string          { return a.text }
func (a Answer) Structured(any) any    { return nil }
func (a Answer) Opaque() *tools.Opaque { return a.opaque }

// Asking is an answer of protocol 2026-07-28 that asks the client something. state comes back with the client's answers.
func Asking(requests map[string]any, state string) Answer {
	more := map[string]json.RawMessage{"content": nil}
	for name, value := range map[string]any{"resultType": mcp.ResultTypeInputRequired, "inputRequests": requests, "requestState": state} {
		more[name], _ = json.Marshal(value) // texts, and values that were JSON
	}
	return Answer{opaque: &tools.Opaque{Content: []json.RawMessage{}, More: more}}
}

// Text is an answer that no upstream gave.
func Text(text string) Answer { return Answer{text: text} }

// Prunable reports whether a result has a single text of more than over characters.
func (a Answer) Prunable(over int) bool {
	return utf8.RuneCountInString(a.text) > over && a.textBlock() >= 0
}

// fewItems is the number of items in a list of JSON that stands on one line.
const fewItems = 8

// ByItem returns the answer with each item of its longest list on a line of its own if its text is one line of JSON: lines are
// what is kept or left out.
func (a Answer) ByItem() Answer {
	if !json.Valid([]byte(a.text)) || strings.Contains(strings.TrimSpace(a.text), "\n") {
		return a
	}
	values := jsonspan.Find([]byte(a.text))
	lists, longest := map[int32][]jsonspan.Edit{}, int32(-1)
	for _, v := range values {
		if p := v.Parent; v.Holds() && p >= 0 && values[p].Kind == jsonspan.Array {
			lists[p] = append(lists[p], jsonspan.Edit{From: int(v.Start), To: int(v.Start), Text: []byte("\n")})
			if len(lists[p]) > len(lists[longest]) {
				longest = p
			}
		}
	}
	if len(lists[longest]) >= fewItems {
		a.text = string(jsonspan.Splice([]byte(a.text), lists[longest]))
	}
	return a
}

// textBlock returns the index of the only text block, or -1 if there are none or several.
func (a Answer) textBlock() int {
	at := -1
	if a.opaque == nil {
		return at
	}
	for i, raw := range a.opaque.Content {
		if _, ok := blockText(raw); !ok {
			continue
		}
		if at >= 0 {
			return -1
		}
		at = i
	}
	return at
}

// Prune returns the answer with its text replaced by a pruned one. It removes structuredContent if the text is cut and
// structuredContent says the same.
func (a Answer) Prune(text string) (tools.Output, error) {
	if text == a.text {
		return a, nil
	}
	pruned, err := a.withText(text)
	if err == nil && saysSame(pruned.opaque.Structured, a.text) {
		pruned.opaque.Structured = nil
	}
	return pruned, err
}

// withText returns the answer with another text in the place of its own.
func (a Answer) withText(text string) (Answer, error) {
	at := a.textBlock()
	if at < 0 {
		return Answer{}, errors.New("it has no single text")
	}
	var block map[string]any
	if err := json.Unmarshal(a.opaque.Content[at], &block); err != nil {
		return Answer{}, err
	}
	block["text"] = text
	changed, err := json.Marshal(block)
	if err != nil {
		return Answer{}, err
	}
	other := *a.opaque
	other.Content = slices.Clone(a.opaque.Content)
	other.Content[at] = changed
	return Answer{text, &other}, nil
}

// saysSame reports whether a text is the JSON of a structured result, or the only string in it, as servers answer whose
// tools return a plain text.
func saysSame(structured json.RawMessage, text string) bool {
	value, err := jsonspan.Decode(structured)
	if err != nil {
		return false
	}
	if object, _ := value.(map[string]any); len(object) == 1 {
		for _, only := range object {
			if only == any(text) {
				return true
			}
		}
	}
	said, err := jsonspan.Decode([]byte(text))
	return err == nil && reflect.DeepEqual(said, value)
}

// readBack matches the hint in a pruned text that says how to read the rest. The gateway offers
// recover_text instead of read.
var readBack = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\bread file_path=(prn_\w+) start_line=(\d+) end_line=(\d+)`)
})

// WithOriginal returns the answer with a hint how to get the whole text.
func (a Answer) WithOriginal(id string) tools.Output {
	text := readBack().ReplaceAllString(a.text, "recover_text prune_id=$1 ranges=[{start_line:$2,end_line:$3}]")
	noted, err := a.withText(text)
	if err != nil { // cannot happen for an answer that was pruned before
		return a
	}
	noted.opaque.Content = append(noted.opaque.Content, textBlock("[recover_text prune_id="+id+" shows what is left out]"))
	return noted
}

// textBlock returns a content block with a text of ours.
func textBlock(text string) json.RawMessage {
	block, _ := json.Marshal(map[string]string{"type": "text", "text": text}) // cannot fail for texts
	return block
}
