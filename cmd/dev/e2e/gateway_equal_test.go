//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ableClient are capabilities of a client that can do everything, and its answers.
const ableClient = `{"roots":{"listChanged":true},"sampling":{},"elicitation":{"form":{},"url":{}},"tasks":{"list":{},"cancel":{},"requests":{"sampling":{"createMessage":{}},"elicitation":{"create":{}}}}}`

var ableAnswers = map[string]string{
	"sampling/createMessage": `{"role":"assistant","model":"m","content":{"type":"text","text":"sampled 4711"}}`,
	"elicitation/create":     `{"action":"accept","content":{"name":"Ada","check":true}}`,
	"roots/list":             `{"roots":[{"uri":"file:///crate","name":"crate"}]}`,
}

// varies matches what differs from run to run: times, ids of tasks and of questions, and names of files that Playwright
// writes.
var varies = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.-]+Z|\d{1,2}:\d\d:\d\d [AP]M|[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27}|page-[0-9TZ-]+\.|PID: \d+`)

// plainForm returns an answer in one spelling, with the gateway's names and URIs of a server as the server's own.
func plainForm(t *testing.T, server, answer string) string {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal([]byte(answer), &value), answer)
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	text := strings.ReplaceAll(string(raw), `"`+server+`+`, `"`)
	return varies.ReplaceAllString(strings.ReplaceAll(text, `"name":"`+server+`_`, `"name":"`), "…")
}

// sideBySide is a server and the gateway in front of it.
type sideBySide struct {
	t              *testing.T
	server         string
	direct, behind *dialogue
	names          map[string]string // by which the gateway offers tools, by the server's own
}

// equal sends a request to both, with %s for what the gateway puts before names, %[2]s before URIs, and returns the answer.
func (b sideBySide) equal(method, params string) string {
	b.t.Helper()
	fill := func(name, uri string) string { return strings.NewReplacer("NAME:", name, "URI:", uri).Replace(params) }
	want := b.direct.ask(method, fill("", ""))
	got := b.behind.ask(method, fill(b.server+"_", b.server+"+"))
	assert.Equal(b.t, plainForm(b.t, b.server, want), plainForm(b.t, b.server, got), "%s %s %s", b.server, method, params)
	return want
}

func (b sideBySide) call(tool, args string) string {
	b.t.Helper()
	request := func(name string) string {
		return fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":"mine"}}`, name, args)
	}
	want := b.direct.ask("tools/call", request(tool))
	got := b.behind.ask("tools/call", request(b.names[tool]))
	assert.Equal(b.t, plainForm(b.t, b.server, want), plainForm(b.t, b.server, got), "%s %s %s", b.server, tool, args)
	return want
}

// capability returns a capability that the server announced, or nil.
func (d *dialogue) capability(name string) json.RawMessage {
	var hello struct{ Capabilities map[string]json.RawMessage }
	require.NoError(d.t, json.Unmarshal([]byte(d.hello), &hello))
	return hello.Capabilities[name]
}

// lists compares what both list. The tools are compared by what the gateway leaves as it is: a model's text is its subject.
func (b sideBySide) lists() {
	b.t.Helper()
	for _, list := range []struct{ capability, method string }{
		{"resources", "resources/list"}, {"resources", "resources/templates/list"}, {"prompts", "prompts/list"},
	} {
		if b.direct.capability(list.capability) != nil {
			b.equal(list.method, `{}`)
		}
	}
	for _, name := range []string{"completions", "logging", "tasks"} {
		if b.direct.capability(name) != nil {
			assert.NotNil(b.t, b.behind.capability(name), "%s: %s", b.server, name)
		}
	}
	var order []string // the gateway sorts a server's tools by their names
	fields := func(answer string) map[string]string {
		var result struct{ Tools []map[string]any }
		require.NoError(b.t, json.Unmarshal([]byte(answer), &result))
		tools := map[string]string{}
		order = order[:0]
		for _, tool := range result.Tools {
			name := tool["name"].(string)
			order = append(order, name)
			kept := map[string]any{}
			for _, field := range []string{"title", "icons", "outputSchema", "execution", "_meta"} {
				if value, ok := tool[field]; ok {
					kept[field] = value
				}
			}
			raw, err := json.Marshal(kept)
			require.NoError(b.t, err)
			tools[name] = string(raw)
		}
		return tools
	}
	want, got := fields(b.direct.ask("tools/list", `{}`)), fields(b.behind.ask("tools/list", `{}`))
	assert.Len(b.t, got, len(want))
	for name, wanted := range want {
		b.names[name] = b.server + "_" + name
		if len(b.names[name]) > 40 { // cut, with a hash
			at := slices.IndexFunc(order, func(offered string) bool { return strings.HasPrefix(offered, b.names[name][:33]) && len(offered) == 40 })
			require.GreaterOrEqual(b.t, at, 0, name)
			b.names[name] = order[at]
		}
		assert.Equal(b.t, wanted, got[b.names[name]], "%s %s", b.server, name)
	}
}

// TestGatewayEqualsDirect compares the public servers behind the gateway with the servers themselves, feature by feature.
func TestGatewayEqualsDirect(t *testing.T) {
	w, servers := gatewayWorld(t, clientNamed(t, "claude"), false)
	more, _ := moreServers(w)
	for name, s := range more {
		servers[name] = s
	}
	compare := map[string]func(sideBySide){
		"everything": everythingEqual,
		"filesystem": func(b sideBySide) {
			b.call("read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(w.dir, "crate.txt")))
			b.call("list_allowed_directories", `{}`)
			b.call("read_text_file", `{"path":"/etc/hostname"}`)
			assert.Equal(t, b.direct.heard("roots/list"), b.behind.heard("roots/list"), "it asks for roots")
		},
		"memory": func(b sideBySide) {
			b.call("read_graph", `{}`)
			b.call("search_nodes", `{"query":"x"}`)
		},
		"github": func(b sideBySide) {
			b.call("get_issue", `{"owner":"box","repo":"crate","issue_number":4711}`)
			b.call("get_issue", `{"owner":"box","repo":"crate","issue_number":1}`)
		},
		"playwright": func(b sideBySide) {
			b.call("browser_navigate", `{"url":"data:text/html,<title>Crates</title><h1>Crate 4711</h1>"}`)
			b.call("browser_snapshot", `{}`)
			b.call("browser_close", `{}`) // a browser left behind would write into the folder of the test
		},
	}
	for name, equal := range compare {
		t.Run(name, func(t *testing.T) {
			s, there := servers[name]
			if !there {
				t.Skip("it cannot be had here")
			}
			config := w.serversFile(name+".json", map[string]upstream{name: s})
			direct := exec.Command(s.Command, s.Args...)
			for key, value := range s.Env {
				direct.Env = append(direct.Env, key+"="+value)
			}
			b := sideBySide{t, name, converseWith(w, direct, ableClient, ableAnswers), converse(w, ableClient, ableAnswers, "gateway", "--mode", "trim", config), map[string]string{}}
			b.lists()
			equal(b)
			require.NoError(t, b.direct.cmd.Process.Kill()) // not every server ends with its input
			for range b.direct.replies {                    // until its output ends
			}
			_ = b.direct.cmd.Wait()
			b.behind.end()
		})
	}
}

// everythingEqual compares the features of the server that has them all.
func everythingEqual(b sideBySide) {
	const document = `"uri":"URI:demo://resource/static/document/features.md"`
	b.equal("resources/read", `{`+document+`}`)
	b.equal("resources/read", `{"uri":"URI:demo://resource/dynamic/blob/3"}`)
	b.equal("resources/read", `{"uri":"URI:demo://resource/dynamic/text/none"}`)
	b.equal("resources/subscribe", `{`+document+`}`)
	b.equal("resources/unsubscribe", `{`+document+`}`)
	b.equal("prompts/get", `{"name":"NAME:args-prompt","arguments":{"city":"Oslo"}}`)
	b.equal("prompts/get", `{"name":"NAME:resource-prompt","arguments":{"resourceType":"Text","resourceId":"1"}}`)
	b.equal("completion/complete", `{"ref":{"type":"ref/prompt","name":"NAME:completable-prompt"},"argument":{"name":"department","value":"E"}}`)
	b.equal("completion/complete", `{"ref":{"type":"ref/resource","uri":"URI:demo://resource/dynamic/text/{resourceId}"},"argument":{"name":"resourceId","value":"1"}}`)
	b.equal("logging/setLevel", `{"level":"debug"}`)
	b.call("get-structured-content", `{"location":"Chicago"}`)
	b.call("get-resource-links", `{"count":2}`)
	b.call("get-resource-reference", `{"resourceType":"Text","resourceId":1}`)
	b.call("get-annotated-message", `{"messageType":"error","includeImage":true}`)
	b.call("trigger-long-running-operation", `{"duration":0.1,"steps":3}`)
	b.call("trigger-sampling-request", `{"prompt":"how many?"}`)
	b.call("trigger-elicitation-request", `{}`)
	b.call("trigger-url-elicitation", `{"url":"https://example.org/","message":"Log in"}`)
	b.call("get-roots-list", `{}`)
	for _, method := range []string{"sampling/createMessage", "elicitation/create", "notifications/progress"} {
		assert.NotZero(b.t, b.behind.heard(method), method)
		assert.Equal(b.t, b.direct.heard(method), b.behind.heard(method), method)
	}
	for _, d := range []*dialogue{b.direct, b.behind} {
		name := map[*dialogue]string{b.behind: b.server + "_"}[d]
		var created struct {
			Task struct{ TaskID, Status string }
		}
		require.NoError(b.t, json.Unmarshal([]byte(d.ask("tools/call", `{"name":"`+name+`simulate-research-query","arguments":{"topic":"crates"},"task":{"ttl":60000}}`)), &created))
		require.NotEmpty(b.t, created.Task.TaskID)
		id := fmt.Sprintf(`{"taskId":%q}`, created.Task.TaskID)
		assert.Contains(b.t, d.ask("tasks/get", id), created.Task.TaskID)
		assert.Contains(b.t, d.ask("tasks/result", id), "Research Report: crates")
		assert.Contains(b.t, d.ask("tasks/list", `{}`), created.Task.TaskID)
		assert.NotZero(b.t, d.heard("notifications/tasks/status"))
	}
}
