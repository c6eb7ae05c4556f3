package gateway

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// fakeVariable makes the test binary an MCP server over stdio. Its value says how
// it behaves.
const fakeVariable = "GATEWAY_TEST_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(fakeVariable); kind != "" {
		(&fake{kind: kind}).serve()
		return
	}
	os.Exit(m.Run())
}

// fake is an MCP server that does what the tests need of one.
type fake struct {
	kind string
	in   *bufio.Scanner
	more bool // lists one tool more
}

type fakeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string         `json:"name"`
		Arguments map[string]any `json:"arguments"`
		Meta      struct {
			ProgressToken any `json:"progressToken"`
		} `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"`
		Protocol  string          `json:"protocolVersion"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

func (f *fake) serve() {
	f.in = bufio.NewScanner(os.Stdin)
	f.in.Buffer(nil, 64<<20)
	fmt.Fprintln(os.Stderr, "fake server of kind", f.kind)
	for f.in.Scan() {
		var m fakeMessage
		if json.Unmarshal(f.in.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		f.answer(m)
	}
}

func (f *fake) answer(m fakeMessage) {
	switch m.Method {
	case "initialize":
		if f.kind == "deaf" {
			return
		}
		f.result(m.ID, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}`, m.Params.Protocol))
	case "tools/list":
		tools := []string{
			`{"name":"get_item","description":"Returns an item.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}`,
			`{"name":"list_items","description":"Lists items.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`,
			`{"name":"delete_item","description":"Deletes an item.","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}}`,
		}
		if f.more {
			tools = append(tools, `{"name":"rename_item","description":"Renames an item.","inputSchema":{"type":"object"}}`)
		}
		f.result(m.ID, `{"tools":[`+strings.Join(tools, ",")+`]}`)
	case "tools/call":
		f.call(m)
	default:
		f.result(m.ID, `{}`)
	}
}

// everyContent is a result with every kind of content.
const everyContent = `{"content":[{"type":"text","text":"a <b> & c"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"},` +
	`{"type":"resource","resource":{"uri":"x://y","text":"z"}},{"type":"resource_link","uri":"x://y","name":"y","annotations":{"priority":0.5}}],` +
	`"structuredContent":{"n":12345678901234567890,"m":1.50},"_meta":{"x/y":{"z":[1,2.0]}}}`

func (f *fake) call(m fakeMessage) {
	switch id := fmt.Sprint(m.Params.Arguments["id"]); {
	case m.Params.Name == "list_items":
		f.result(m.ID, everyContent)
	case m.Params.Name == "rename_item", id == "1":
		raw, _ := json.Marshal(m.Params.Arguments)
		f.result(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, m.Params.Name+string(raw)))
	case id == "2": // fails
		f.result(m.ID, `{"content":[{"type":"text","text":"no such item"}],"isError":true}`)
	case id == "3": // a JSON-RPC error
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32050,"message":"out of stock","data":{"left":0}}}`, m.ID))
	case id == "4":
		os.Exit(3)
	case id == "5": // progress
		token, _ := json.Marshal(m.Params.Meta.ProgressToken)
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2,"message":"half"}}`, token))
		f.result(m.ID, `{"content":[]}`)
	case id == "6": // asks the client
		f.write(`{"jsonrpc":"2.0","id":"ask","method":"sampling/createMessage","params":{"messages":[],"maxTokens":5}}`)
		f.in.Scan()
		var answer fakeMessage
		_ = json.Unmarshal(f.in.Bytes(), &answer)
		f.result(m.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, string(answer.Result)))
	case id == "7": // its list changes
		f.more = true
		f.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		f.result(m.ID, `{"content":[]}`)
	case id == "8": // never answers, and says so when it is cancelled
		fmt.Fprintln(os.Stderr, "at work")
		for f.in.Scan() {
			var next fakeMessage
			if json.Unmarshal(f.in.Bytes(), &next) == nil && next.Method == "notifications/cancelled" {
				fmt.Fprintf(os.Stderr, "cancelled %s of %s\n", next.Params.RequestID, m.ID)
				return
			}
		}
	case id == "9": // large
		f.result(m.ID, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 30<<20)+`"}]}`)
	}
}

func (f *fake) result(id json.RawMessage, result string) {
	f.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (f *fake) write(line string) { fmt.Println(line) }
