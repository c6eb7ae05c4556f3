package gateway

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// fullCapabilities are those of the fake server of kind "full", which has everything.
const fullCapabilities = `{"tools":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{},"logging":{}}`

// listsOf has what servers with resources answer, by their kind and the method. Their tool gives any result.
var listsOf = map[string]map[string]string{
	"files": {
		"resources/list":      `{"resources":[{"uri":"file:///listed","name":"l"}]}`,
		"resources/read":      `{"contents":[{"uri":"URI","text":"files has URI"}]}`,
		"completion/complete": `{"completion":{"values":["completed by files"]}}`,
		"prompts/list":        `{"prompts":[{"name":"look"}]}`,
		"prompts/get":         `{"messages":[{"role":"user","content":{"type":"resource_link","uri":"any:///prompted","name":"p"}}]}`,
	},
	"hostile": {
		"resources/templates/list": `{"resourceTemplates":[{"uriTemplate":"{x}","name":"a"},{"uriTemplate":"{+path}","name":"b"},{"uriTemplate":"{scheme}://{+path}","name":"c"},{"uriTemplate":"any:///{+all}","name":"d"}]}`,
		"resources/read":           `{"contents":[{"uri":"URI","text":"hostile has URI"}]}`,
	},
	"quiet": {"resources/templates/list": longTemplates(), "resources/read": `{"contents":[{"uri":"dir:///a/below","text":"quiet has URI"}]}`},
}

// longTemplates lists one template that is too long, and more than are looked at.
func longTemplates() string {
	list := `{"uriTemplate":"long:` + strings.Repeat("{a}", maxTemplate/3) + `"}`
	for n := range 17 {
		list += fmt.Sprintf(`,{"uriTemplate":"many%d:%s"}`, n, strings.Repeat("{a}", maxTemplate/3-3))
	}
	return `{"resourceTemplates":[` + list + `]}`
}

func giving(string) string {
	return `{"tools":[{"name":"give","_meta":{"ui":{"resourceUri":"ui://page"}}}]}`
}

// feature answers requests of a server that has more than tools.
func (f *fake) feature(m fakeMessage) {
	if answers := listsOf[f.kind]; answers != nil {
		f.result(m.ID, strings.ReplaceAll(cmp.Or(answers[m.Method], "{}"), "URI", m.Params.URI))
		return
	}
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
		if strings.Contains(f.in.Text(), `\ud`) { // what came
			f.result(m.ID, fmt.Sprintf(`{"came":%q}`, f.in.Text()))
			return
		}
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

// TestURIsOfAValue: members with a resource's URI are found however deep and however their names are spelled; a value of a million
// parts is not searched.
func TestURIsOfAValue(t *testing.T) {
	assert.Equal(t, []string{"a:1", "b:\n"}, urisIn([]byte(`{"x":[{"\u0075ri":"a:1","uris":"c:1"}],"_meta":{"ui/resourceUri":"b:\n","uri":""},"text":"{\"uri\":\"d:1\"}"}`)))
	assert.Empty(t, urisIn([]byte("["+strings.Repeat(`{"uri":"a:1"},`, 1<<19)+"{}]")))
}
