package gateway

import (
	"fmt"
)

// fullCapabilities are those of the fake server of kind "full", which has everything.
const fullCapabilities = `{"tools":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// feature answers requests of a server that has more than tools.
func (f *fake) feature(m fakeMessage) {
	switch m.Method {
	case "resources/list":
		if m.Params.Cursor == "" {
			f.result(m.ID, `{"resources":[{"uri":"note:///1","name":"one","icons":[{"src":"data:,"}],"_meta":{"a/b":1}}],"nextCursor":"2"}`)
			return
		}
		f.result(m.ID, `{"resources":[{"uri":"note:///2","name":"two","title":"Two"},{"name":"without a URI"},7]}`)
	case "resources/templates/list":
		f.result(m.ID, `{"resourceTemplates":[{"uriTemplate":"note:///{id}","name":"any"}]}`)
	case "resources/read":
		f.result(m.ID, fmt.Sprintf(`{"contents":[{"uri":%q,"text":"the note <%s>","_meta":{"n":1.50}}]}`, m.Params.URI, m.Params.URI))
	case "resources/subscribe":
		f.result(m.ID, `{}`)
		f.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":%q}}`, m.Params.URI))
	case "prompts/list":
		f.result(m.ID, `{"prompts":[{"name":"greet","title":"A greeting","arguments":[{"name":"who"}]}]}`)
	case "prompts/get":
		f.result(m.ID, fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":"%s %v"}}]}`, m.Params.Name, m.Params.Arguments["who"]))
	case "completion/complete":
		f.result(m.ID, `{"completion":{"values":["Ada","Bob"],"hasMore":false}}`)
	case "logging/setLevel":
		f.result(m.ID, `{}`)
		for _, level := range []string{"debug", "error"} {
			f.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":%q,"data":"a secret of %s"}}`, level, level))
		}
	default:
		f.result(m.ID, `{}`)
	}
}
