package upstream

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// words approximates the number of tokens, well enough to choose how much text to keep.
func words(text string) int { return len(text)/4 + 1 }

var options = Options{Target: DefaultTarget, Tokens: words}

// parse parses tools given as JSON objects.
func parse(t *testing.T, server string, tools ...string) []Definition {
	t.Helper()
	list, problems, err := ParseList(server, json.RawMessage(`{"tools":[`+strings.Join(tools, ",")+`]}`))
	require.NoError(t, err)
	require.Empty(t, problems)
	return list
}

func tool(name, description, schema string) string {
	return fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":%s}`, name, description, schema)
}

// library returns a small invented server: nouns with several verbs each, and one tool that
// fits no group.
func library(t *testing.T) []Definition {
	t.Helper()
	return parse(t, "library",
		tool("list_books", "Lists every book in the library, newest first.", `{"type":"object","properties":{"limit":{"type":"integer","minimum":1}}}`),
		tool("get_book", "Returns one book.", `{"type":"object","properties":{"isbn":{"type":"string","pattern":"^[0-9-]+$"}},"required":["isbn"]}`),
		tool("add_book", "Adds a book.", `{"type":"object","properties":{"isbn":{"type":"string"},"title":{"type":"string"},"format":{"enum":["paper","ebook"]}},"required":["isbn","title"]}`),
		tool("list_members", "Lists members.", `{"type":"object","properties":{"limit":{"type":"number"}}}`),
		tool("remove_member", "Removes a member for good.", `{"type":"object","properties":{"id":{"type":"integer"},"action":{"type":"string"}},"required":["id"]}`),
		tool("suspend_member", "Suspends a member.", `{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`),
	)
}

func find(t *testing.T, list []Exposed, name string) *Exposed {
	t.Helper()
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	require.Failf(t, "no exposed tool", "%s is not among %d", name, len(list))
	return nil
}

func TestToolsAreGroupedByNoun(t *testing.T) {
	list := Expose(Server{Name: "library", Tools: library(t)}, Grouped, options)
	require.Len(t, list, 2)
	book := find(t, list, "library_book")
	assert.Equal(t, []string{"add", "get", "list"}, book.actionNames())
	assert.Equal(t, []string{"list", "remove", "suspend"}, find(t, list, "library_member").actionNames())
	var schema struct {
		Required   []string
		Properties map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal(book.InputSchema, &schema))
	assert.Equal(t, []string{"action"}, schema.Required)
	assert.Equal(t, []any{"add", "get", "list", "help"}, schema.Properties["action"]["enum"])
	for name, p := range schema.Properties {
		assert.NotEmpty(t, p["type"], name)
	}
}

func TestTrimKeepsNamesAndDescriptions(t *testing.T) {
	tools := library(t)
	list := Expose(Server{Name: "library", Tools: tools}, Trimmed, options)
	require.Len(t, list, len(tools))
	for i := range tools {
		assert.Equal(t, tools[i].Description, find(t, list, "library_"+tools[i].Name).Description)
	}
	member := find(t, list, "library_remove_member")
	assert.Contains(t, string(member.InputSchema), `"action":{"type":"string"}`, "a tool without actions keeps a parameter of that name")
}

// TestTrimKeepsWhatAMappingRestricts: a client that says it searches tools itself gets no more than the others.
func TestTrimKeepsWhatAMappingRestricts(t *testing.T) {
	maps, err := ParseMappings([]byte(`{"groups":{"member":{"actions":{"archive":{"tool":"remove_member","set":{"action":"archive"},"params":["id"]}}}}}`), []string{"library"})
	require.NoError(t, err)
	m := maps["library"]
	list := Expose(Server{Name: "library", Tools: library(t), Mapping: &m}, Trimmed, options)
	require.Len(t, list, 6, "one for each tool")
	member := find(t, list, "library_member")
	call, _, _ := member.Translate(map[string]any{"action": "archive", "id": json.Number("7")})
	require.NotNil(t, call)
	assert.Equal(t, map[string]any{"id": json.Number("7"), "action": "archive"}, call.Arguments)
	for _, e := range list {
		assert.True(t, e.Name == "library_member" || e.Actions[0].Def.Name != "remove_member", e.Name)
	}
}

func TestAParameterCalledActionBecomesSubaction(t *testing.T) {
	list := Expose(Server{Name: "library", Tools: library(t)}, Grouped, options)
	call, _, refusal := find(t, list, "library_member").Translate(map[string]any{
		"action": "remove", "id": json.Number("7"), "subaction": "archive"})
	require.Empty(t, refusal)
	assert.Equal(t, "remove_member", call.Def.Name)
	assert.Equal(t, map[string]any{"id": json.Number("7"), "action": "archive"}, call.Arguments)
}

func TestARefusalTeaches(t *testing.T) {
	book := find(t, Expose(Server{Name: "library", Tools: library(t)}, Grouped, options), "library_book")
	for _, c := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{}, "action is missing. Valid: add|get|list"},
		{map[string]any{"action": "gett"}, `Invalid action "gett": did you mean "get"? Valid: add|get|list`},
		{map[string]any{"action": "burn"}, `Invalid action "burn". Valid: add|get|list (action=help shows all of them in full)`},
		{map[string]any{"action": 3}, "action has to be a string. Valid: add|get|list"},
		{map[string]any{"action": "add", "isbn": "1"}, "library_book: missing title. Usage: action=add, isbn, title, format?"},
		{map[string]any{"action": "get", "isbn": "abc"}, "library_book: isbn: 'abc' does not match pattern '^[0-9-]+$'. Usage: action=get, isbn"},
	} {
		call, help, refusal := book.Translate(c.args)
		assert.Nil(t, call)
		assert.Empty(t, help)
		assert.Equal(t, c.want, refusal)
	}
}

func TestHelpShowsTheOriginals(t *testing.T) {
	book := find(t, Expose(Server{Name: "library", Tools: library(t)}, Grouped, options), "library_book")
	_, help, refusal := book.Translate(map[string]any{"action": "help"})
	assert.Empty(t, refusal)
	assert.Contains(t, help, "Lists every book in the library, newest first.")
	assert.Contains(t, help, `"minimum":1`)
	_, help, _ = book.Translate(map[string]any{"action": "help get"})
	assert.Contains(t, help, "Returns one book.")
	assert.NotContains(t, help, "Lists every book")
}

// TestAToolWithoutActionsHasHelp checks that a shortened text is never the only one, and that
// the server's own parameter comes first.
func TestAToolWithoutActionsHasHelp(t *testing.T) {
	long := "Says what the weather is. " + strings.Repeat("It knows every town. ", 20)
	tools := parse(t, "sky", tool("weather", long, `{"type":"object","properties":{"town":{"type":"string","minLength":2}},"required":["town"]}`))
	for _, mode := range []Mode{Grouped, Trimmed} {
		weather := &Expose(Server{Name: "sky", Tools: tools}, mode, options)[0]
		call, help, refusal := weather.Translate(map[string]any{"action": "help"})
		require.Empty(t, refusal)
		require.Nil(t, call)
		assert.Contains(t, help, strings.TrimSpace(long))
		assert.Contains(t, help, `"minLength":2`)
		call, _, _ = weather.Translate(map[string]any{"action": "forecast"})
		assert.Equal(t, map[string]any{"action": "forecast"}, call.Arguments, "the server checks them")
	}
	own := parse(t, "own", tool("run", "Runs.", `{"type":"object","properties":{"action":{"type":"string"}}}`))
	call, help, refusal := Expose(Server{Name: "own", Tools: own}, Trimmed, options)[0].Translate(map[string]any{"action": "help"})
	require.Empty(t, help+refusal)
	assert.Equal(t, map[string]any{"action": "help"}, call.Arguments)
}

// TestHelpIsTheServersWhereItMayBe: a tool may take a parameter that its schema does not name, and one that is listed as it is
// has no text to add.
func TestHelpIsTheServersWhereItMayBe(t *testing.T) {
	for more, servers := range map[string]bool{
		`"additionalProperties":{"type":"string"}`: true, `"additionalProperties":true`: true, `"patternProperties":{"^act":{}}`: true,
		`"additionalProperties":false`: false, `"minProperties":0`: false,
	} {
		for _, pin := range []bool{false, true} {
			var m *Mapping
			if pin {
				m = &Mapping{Pin: []string{"run"}}
			}
			run := parse(t, "own", tool("run", "Runs.", `{"type":"object","properties":{},`+more+`}`))
			call, _, _ := Expose(Server{Name: "own", Tools: run, Mapping: m}, Trimmed, options)[0].Translate(map[string]any{"action": "help"})
			assert.Equal(t, servers || pin, call != nil, "%s, pinned: %v", more, pin)
		}
	}
}

// TestHeadersOfParametersAreNotExposed checks that x-mcp-header is in no merged or trimmed
// schema: two actions may give one header to different parameters, or one parameter two
// headers, and a client would drop the whole tool. The gateway speaks to servers in a
// protocol in which the argument alone counts. A pinned tool keeps its annotation.
func TestHeadersOfParametersAreNotExposed(t *testing.T) {
	tools := parse(t, "cloud",
		tool("list_buckets", "Lists.", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`),
		tool("create_bucket", "Creates.", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Zone"},"place":{"type":"string","x-mcp-header":"Region"}}}`),
		tool("ping", "Pings.", `{"type":"object","properties":{"host":{"type":"string","x-mcp-header":"Host"}}}`))
	for _, mode := range []Mode{Grouped, Trimmed} {
		list := Build([]Server{{Name: "cloud", Tools: tools, Mapping: &Mapping{Pin: []string{"ping"}}}}, mode, options)
		for i := range list {
			e := &list[i]
			assert.Equal(t, e.Actions[0].Def.Name == "ping", strings.Contains(string(e.InputSchema), "x-mcp-header"), e.Name)
		}
	}
	bucket := &Expose(Server{Name: "cloud", Tools: tools[:2]}, Grouped, options)[0]
	call, _, refusal := bucket.Translate(map[string]any{"action": "create", "region": "eu", "place": "x"})
	require.Empty(t, refusal)
	assert.Equal(t, map[string]any{"region": "eu", "place": "x"}, call.Arguments)
}

// TestADefaultNeedNotBeGiven checks that a parameter with a default is optional even if the
// server lists it as required, as schemas generated with zod do.
func TestADefaultNeedNotBeGiven(t *testing.T) {
	tools := parse(t, "view", tool("shoot", "Takes a picture.",
		`{"type":"object","properties":{"scale":{"type":"string","default":"css"},"of":{"type":"string"}},"required":["scale","of"]}`))
	shoot := &Expose(Server{Name: "view", Tools: tools}, Grouped, options)[0]
	assert.Contains(t, string(shoot.InputSchema), `"required":["of"]`)
	call, _, refusal := shoot.Translate(map[string]any{"of": "it"})
	require.Empty(t, refusal)
	assert.Equal(t, map[string]any{"of": "it"}, call.Arguments)
}

func TestAConflictIsExposedUnderTheActionsName(t *testing.T) {
	tools := parse(t, "shop",
		tool("create_order", "Creates.", `{"type":"object","properties":{"items":{"type":"array","items":{"type":"string"}}}}`),
		tool("list_orders", "Lists.", `{"type":"object","properties":{"items":{"type":"boolean"}}}`),
		tool("get_order", "Gets.", `{"type":"object","properties":{}}`))
	order := &Expose(Server{Name: "shop", Tools: tools}, Grouped, options)[0]
	call, _, refusal := order.Translate(map[string]any{"action": "list", "items_list": true})
	require.Empty(t, refusal)
	assert.Equal(t, map[string]any{"items": true}, call.Arguments)
	call, _, refusal = order.Translate(map[string]any{"action": "create", "items": []any{"pen"}})
	require.Empty(t, refusal)
	assert.Equal(t, map[string]any{"items": []any{"pen"}}, call.Arguments)
}

func TestOddDefinitions(t *testing.T) {
	list, problems, err := ParseList("odd", json.RawMessage(`{"tools":[
		{"name":"loop","inputSchema":{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"type":"object","properties":{"n":{"$ref":"#/$defs/n"}}}},
		{"name":"broken","inputSchema":"nonsense"}, {"name":"bare"}, {"name":""}, 7,
		{"name":"either","inputSchema":{"oneOf":[{"properties":{"id":{"type":"string"}},"required":["id"]},{"properties":{"name":{"type":"string"}},"required":["name"]}]}},
		{"name":"point","inputSchema":{"type":"object","definitions":{"p":{"type":"object","properties":{"x":{"type":"number"}}}},"properties":{"at":{"$ref":"#/definitions/p"},"any":{},"level":{"enum":[1,2,3]},"maybe":{"anyOf":[{"type":"string"},{"type":"null"}]}}}},
		{"name":"`+strings.Repeat("very_long_", 10)+`name","inputSchema":{"type":"object"},"annotations":"none"}]}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"odd: tool 4: has no name", "odd: tool 5: is not an object"}, problems)
	for _, mode := range []Mode{Grouped, Trimmed} {
		exposed := Expose(Server{Name: "odd", Tools: list}, mode, options)
		reached := map[string]int{}
		for _, e := range exposed {
			assert.LessOrEqual(t, len(e.Name), maxName)
			var schema map[string]any
			require.NoError(t, json.Unmarshal(e.InputSchema, &schema), e.Name)
			for _, key := range []string{"oneOf", "anyOf", "allOf"} {
				assert.NotContains(t, schema, key)
			}
			for _, a := range e.Actions {
				reached[a.Def.Name]++
			}
		}
		assert.Len(t, reached, len(list))
	}
	point := find(t, Expose(Server{Name: "odd", Tools: list}, Trimmed, Options{Tokens: words}), "odd_point")
	assert.JSONEq(t, `{"type":"object","properties":{"any":{"items":{},"type":["string","number","boolean","object","array","null"]},
		"at":{"type":"object","properties":{"x":{"type":"number"}}},"level":{"type":"integer","description":"One of 1, 2, 3"},
		"maybe":{"type":["string","null"]}}}`, string(point.InputSchema))
}

func TestSplitPutsReadsApart(t *testing.T) {
	o := options
	o.SplitRW = true
	list := Expose(Server{Name: "library", Tools: library(t)}, Grouped, o)
	assert.Equal(t, []string{"get", "list"}, find(t, list, "library_book_view").actionNames())
	assert.Equal(t, []string{"add"}, find(t, list, "library_book_change").actionNames())
	assert.Nil(t, find(t, list, "library_book_view").Annotations.ReadOnly, "a name is no promise")
}

// TestAnActionReadsByHintOrByAllItsVerbs checks that a name with any other verb is not put among the tools that read.
func TestAnActionReadsByHintOrByAllItsVerbs(t *testing.T) {
	tools := parse(t, "db", tool("get_table", "", `{}`), tool("list_tables", "", `{}`), tool("query_and_drop_table", "", `{}`), tool("get_and_close_table", "", `{}`),
		`{"name":"get_table_or_make_it","annotations":{"readOnlyHint":true}}`, `{"name":"find_table","annotations":{"readOnlyHint":"yes"}}`)
	o := options
	o.SplitRW = true
	list := Expose(Server{Name: "db", Tools: tools}, Grouped, o)
	assert.Equal(t, []string{"get", "get_or_make_it", "list"}, find(t, list, "db_table_view").actionNames())
	assert.Equal(t, []string{"find", "get_and_close", "query_and_drop"}, find(t, list, "db_table_change").actionNames())
}

// TestGroupsAreNamedByNouns uses names in which an article or an adjective stands where the noun usually is.
func TestGroupsAreNamedByNouns(t *testing.T) {
	var tools []string
	for _, name := range []string{"API-retrieve-a-block", "API-update-a-block", "API-delete-a-block", "API-get-block-children", "API-retrieve-a-page",
		"API-patch-page", "API-post-page", "API-retrieve-a-page-property", "API-create-a-database", "API-update-a-database", "API-retrieve-a-database",
		"API-get-current-user", "API-get-current-time", "API-get-current-bot"} {
		tools = append(tools, tool(name, "", `{}`))
	}
	var names []string
	for _, e := range Expose(Server{Name: "notion", Tools: parse(t, "notion", tools...)}, Grouped, options) {
		names = append(names, e.Name)
	}
	assert.Equal(t, []string{"notion_api", "notion_block", "notion_database", "notion_page"}, names)
}

// TestTenThousandTools checks that a list of any size is grouped. It would take minutes if the work grew with the square of the list.
func TestTenThousandTools(t *testing.T) {
	if testing.Short() {
		t.Skip("a list of this size takes seconds")
	}
	for _, form := range []string{"get_n%[1]d_thing%[1]d", "get_noun%[2]d_%[1]d", "do%[1]d_noun%[2]d"} {
		var names []string
		for i := range 10_000 {
			names = append(names, tool(fmt.Sprintf(form, i, i%700), "Does it.", fmt.Sprintf(
				`{"type":"object","properties":{"p%d":{"type":"string"},"kind":{"enum":["k%d"]},"q":{"type":"integer"}},"required":["q"]}`, i%3000, i)))
		}
		tools := parse(t, "big", names...)
		reached := map[string]int{}
		list := Build([]Server{{Name: "big", Tools: tools}}, Grouped, options)
		for _, e := range list {
			for _, a := range e.Actions {
				reached[a.Def.Name]++
			}
		}
		assert.Len(t, reached, len(tools))
		assert.LessOrEqual(t, len(list), maxTools)
	}
}

func TestAMappingRoutes(t *testing.T) {
	tools := parse(t, "box", tool("manage", "Manages boxes.",
		`{"type":"object","properties":{"action":{"type":"string"},"name":{"type":"string"},"size":{"type":"integer"}},"required":["action"]}`),
		tool("ping", "Says that it is there.", `{"type":"object"}`), tool("secret", "Hidden.", `{"type":"object"}`))
	maps, err := ParseMappings([]byte(`{"namespace":"box","hide":["secret"],"groups":{"ping":{"tool":"ping"},"crate":{"actions":{
		"list":{"tool":"manage","set":{"action":"ls"},"params":[]},"make":{"tool":"manage","set":{"action":"create"},"params":["name","size"],"require":["name"]}}}}}`),
		[]string{"box"})
	require.NoError(t, err)
	m := maps["box"]
	require.Empty(t, m.Unknown(tools))
	list := Expose(Server{Name: "box", Tools: tools, Mapping: &m}, Grouped, options)
	require.Len(t, list, 2)
	crate := find(t, list, "box_crate")
	assert.Equal(t, "crate: list|make", crate.Description)
	assert.Empty(t, find(t, list, "box_ping").Actions[0].Name)
	call, _, refusal := crate.Translate(map[string]any{"action": "make", "name": "a"})
	require.Empty(t, refusal)
	assert.Equal(t, map[string]any{"action": "create", "name": "a"}, call.Arguments)
	_, _, refusal = crate.Translate(map[string]any{"action": "make"})
	assert.Equal(t, "box_crate: missing name. Usage: action=make, name, size?", refusal)
	_, _, refusal = crate.Translate(map[string]any{"action": "list", "name": "a"})
	assert.Equal(t, "box_crate: name is not a parameter of this action. Usage: action=list", refusal)

	m.Groups["lid"] = Group{Actions: map[string]Route{"open": {Tool: "opne"}}}
	assert.Equal(t, []string{`group lid, action open: no tool "opne"`}, m.Unknown(tools))
	_, err = ParseMappings([]byte(`{"servers":{"bxo":{}}}`), []string{"box"})
	assert.EqualError(t, err, `mapping file: server "bxo" is not in the configuration, which has box`)
	again, err := json.Marshal(m.Groups["crate"])
	require.NoError(t, err)
	assert.JSONEq(t, `{"actions":{"list":{"tool":"manage","set":{"action":"ls"},"params":[]},
		"make":{"tool":"manage","set":{"action":"create"},"params":["name","size"],"require":["name"]}}}`, string(again))
}

func TestAMappingWithoutANamespaceKeepsTheServersName(t *testing.T) {
	list := Expose(Server{Name: "library", Tools: library(t), Mapping: &Mapping{Hide: []string{"add_book"}}}, Grouped, options)
	require.Len(t, list, 2)
	assert.NotContains(t, find(t, list, "library_book").actionNames(), "add")
}

func TestAServerWhoseResultsArePrunedIsAskedAQuestion(t *testing.T) {
	for _, mode := range []Mode{Grouped, Trimmed} {
		list := Build([]Server{{Name: "library", Tools: library(t), Mapping: &Mapping{PruneOver: 1000}}}, mode, options)
		for i := range list {
			assert.Contains(t, string(list[i].InputSchema), focusParam)
		}
	}
	book := find(t, Expose(Server{Name: "library", Tools: library(t), Mapping: &Mapping{PruneOver: 1000}}, Grouped, options), "library_book")
	call, _, refusal := book.Translate(map[string]any{"action": "get", "isbn": "1", focusParam: " who wrote it? "})
	require.Empty(t, refusal)
	assert.Equal(t, "who wrote it?", call.Question)
	assert.Equal(t, map[string]any{"isbn": "1"}, call.Arguments)
	call, _, _ = book.Translate(map[string]any{"action": "get", "isbn": "1"})
	assert.Empty(t, call.Question, "it asked none")
	own := parse(t, "own", tool("ask", "Asks.", `{"type":"object","properties":{"context_focus_question":{"type":"integer"}}}`))
	call, _, refusal = Expose(Server{Name: "own", Tools: own, Mapping: &Mapping{PruneOver: 1}}, Trimmed, options)[0].Translate(map[string]any{focusParam: json.Number("3")})
	require.Empty(t, refusal)
	assert.Equal(t, json.Number("3"), call.Arguments[focusParam], "a parameter of the server's own stays its own")
}

func TestAToolOutsideTheOperatorsGroupsIsOnItsOwn(t *testing.T) {
	tools := library(t)
	written := Server{Name: "library", Tools: tools}.mapping()
	written.Groups = autoGroup(written.Namespace, tools, written.routed()).Groups
	more := append(slices.Clone(tools), parse(t, "library", tool("renew_book", "Renews.", `{"type":"object"}`))...)
	before := Expose(Server{Name: "library", Tools: tools, Mapping: &written}, Grouped, Options{Tokens: words})
	after := Expose(Server{Name: "library", Tools: more, Mapping: &written}, Grouped, Options{Tokens: words})
	require.Len(t, after, len(before)+1)
	assert.Equal(t, find(t, before, "library_book").InputSchema, find(t, after, "library_book").InputSchema)
	assert.Equal(t, "renew_book", find(t, after, "library_renew_book").Actions[0].Def.Name)
}

func TestNamesOfSeveralServersStayApart(t *testing.T) {
	one := parse(t, "one", tool("search", "Searches one.", `{"type":"object"}`))
	two := parse(t, "two", tool("search", "Searches two.", `{"type":"object"}`), tool("only", "Only here.", `{"type":"object"}`))
	list := Build([]Server{{Name: "one", Tools: one}, {Name: "two", Tools: two}}, Trimmed, options)
	require.True(t, has(list, "one_search"))
	require.True(t, has(list, "two_search"))
	assert.Equal(t, "two", find(t, list, "two_search").Server())
	assert.True(t, has(list, "two_only"))
	assert.False(t, has(list, "search"))
}
