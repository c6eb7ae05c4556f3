package gateway_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestWhoGaveALinkAnswersForIt has servers give URIs in results, as links or otherwise, and reads those.
func TestWhoGaveALinkAnswersForIt(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	c := converseWith(t, serversFile(t, map[string]any{"files": fakeEntry("files"), "evil": fakeEntry("hostile"), "quiet": fakeEntry("quiet")}), "--mode", "trim")
	c.result(hello("some-client", "{}"))
	give := func(server, result string) {
		t.Helper()
		assert.Contains(t, c.result(callOf(2, server+"_give", `{"result":`+result+`}`)), ":")
	}
	read := func(uri string) string {
		return c.result(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":%q}}`, uri))
	}
	link := func(uri string) string {
		return fmt.Sprintf(`{"content":[{"type":"resource_link","uri":%q,"name":"n"}]}`, uri)
	}

	assert.Contains(t, read("file:///listed"), "files has file:///listed", "the only server that lists it")
	assert.Contains(t, read("files+file:///b"), "files has file:///b")
	assert.Contains(t, read("web:///1"), "there is no such resource", "templates that begin with an expression own nothing")

	for uri, want := range map[string]string{"long:x": "no such resource", "many0:x": "quiet has many0:x", "many15:x": "quiet has", "many16:x": "no such resource"} {
		assert.Contains(t, read(uri), want, "templates have limits")
	}

	assert.Contains(t, read("ui://page"), "several servers have that resource; ask for one of evil+ui://page, files+ui://page, quiet+ui://page")

	give("quiet", link("any:///1"))
	assert.Contains(t, read("any:///1"), "quiet has any:///1", "its neighbour's template matches")
	assert.Contains(t, read("dir:///a/below"), "quiet has dir:///a/below", "what it gave in the contents of a resource")
	assert.Contains(t, c.result(`{"jsonrpc":"2.0","id":4,"method":"prompts/get","params":{"name":"files_look"}}`), "any:///prompted")
	assert.Contains(t, read("any:///prompted"), "files has any:///prompted")

	give("evil", link("any:///1"))
	assert.Contains(t, read("any:///1"), "several servers gave this URI; ask for one of quiet+any:///1, evil+any:///1")
	assert.Contains(t, read("quiet+any:///1"), "quiet has any:///1")

	for name, given := range map[string][2]string{
		"a link":                       {link("own:///1"), "own:///1"},
		"an embedded resource":         {`{"content":[{"type":"resource","resource":{"uri":"own:///2","text":"t"}}]}`, "own:///2"},
		"a result that is an error":    {`{"isError":true,"content":[{"type":"resource_link","uri":"own:///3","name":"n"}]}`, "own:///3"},
		"structured content":           {`{"content":[],"structuredContent":{"found":[{"uri":"own:///4"}]}}`, "own:///4"},
		"a name with an escape":        {`{"content":[{"type":"resource_link","URI":"own:///5","name":"n"}]}`, "own:///5"},
		"a URI that clients normalize": {link("OWN:///x/../%36"), "own:///6"},
		"one with its own part":        {link("evil+own:///7"), "evil+own:///7"},
	} {
		give("evil", given[0])
		assert.Contains(t, read(given[1]), "hostile has "+given[1], name)
	}
	for _, others := range []string{"files+file:///1", "files+file:///listed", "FILES+file:///1"} {
		give("evil", link(others))
		own := others[len("files+"):]
		assert.Contains(t, read(others), "files has "+own, "what begins with a server's part is no other's to give")
		assert.Contains(t, c.result(`{"jsonrpc":"2.0","id":5,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"`+others+
			`"},"argument":{"name":"id","value":"private"}}}`), `"completed by files"`)
		assert.Contains(t, read("evil+"+others), "hostile has "+others)
	}
}

// TestAFloodOfLinksMakesNoOtherForgotten gives more links than are remembered.
func TestAFloodOfLinksMakesNoOtherForgotten(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	c := converseWith(t, serversFile(t, map[string]any{"evil": fakeEntry("hostile"), "quiet": fakeEntry("quiet")}), "--mode", "trim")
	c.result(hello("some-client", "{}"))
	c.result(callOf(2, "quiet_give", `{"result":{"content":[{"type":"resource_link","uri":"any:///1","name":"n"}]}}`))
	links := ""
	for n := range 5000 {
		links += fmt.Sprintf(`{"uri":"any:///flood/%d"},`, n)
	}
	c.result(callOf(3, "evil_give", `{"result":{"content":[],"structuredContent":{"all":[`+links+`{}]}}}`))
	assert.Contains(t, c.result(`{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"any:///1"}}`), "quiet has any:///1")
}
