package gateway

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// townList returns the grouped list of two servers with enough tools for a search.
func townList(t *testing.T) []upstream.Exposed {
	t.Helper()
	var servers []upstream.Server
	for server, nouns := range map[string]string{"city": "bridge tram lamp tree bench fountain", "shop": "order customer invoice parcel voucher"} {
		var list []string
		for noun := range strings.FieldsSeq(nouns) {
			for verb, text := range map[string]string{"list": "Lists every", "create": "Makes a new", "delete": "Removes a"} {
				list = append(list, fmt.Sprintf(`{"name":"%s_%s","description":"%s %s.","inputSchema":{"type":"object","properties":{"%s_id":{"type":"string"}},"required":["%[2]s_id"]}}`,
					verb, noun, text, noun, noun))
			}
		}
		tools, problems, err := upstream.ParseList(server, json.RawMessage(`{"tools":[`+strings.Join(list, ",")+`]}`))
		require.NoError(t, err)
		require.Empty(t, problems)
		servers = append(servers, upstream.Server{Name: server, Tools: tools})
	}
	return upstream.Build(servers, upstream.Grouped, upstream.Options{Target: upstream.DefaultTarget, Tokens: tokens.Estimate})
}

func TestFindAnswersWithDefinitions(t *testing.T) {
	find, offered := findTool(townList(t))
	require.True(t, offered)
	run := func(args string) string {
		var decoded map[string]any
		dec := json.NewDecoder(strings.NewReader(args))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&decoded))
		call, issues := find.Check(decoded)
		if len(issues) > 0 {
			return fmt.Sprint(issues)
		}
		out, err := call.Run(t.Context())
		if err != nil {
			return err.Error()
		}
		return out.Text()
	}
	assert.Equal(t, "- shop_invoice\n  action=delete, invoice_id: Removes a invoice\n  action=create, invoice_id: Makes a new invoice\n"+
		"  action=list, invoice_id: Lists every invoice", run(`{"task":"delete the new invoice","limit":1}`))
	twice := run(`{"steps":["list the trams","erase a tram"],"limit":1}`)
	assert.True(t, strings.HasPrefix(twice, "## list the trams\n- city_tram\n  action=list, tram_id: Lists every tram\n"), twice)
	assert.True(t, strings.HasSuffix(twice, "## erase a tram\n- city_tram, see above"), twice)
	assert.Equal(t, "no tool fits", run(`{"task":"zzz"}`))
	assert.Contains(t, run(`{}`), `say what has to be done: {"task":"..."`)
	assert.Contains(t, run(`{"task":7}`), "invalid_type")
	assert.Contains(t, run(`{"task":"x","limit":11}`), "too_big")
}

func TestFindIsOfferedForLongGroupedListsOnly(t *testing.T) {
	list := townList(t)
	_, offered := findTool(list[:5])
	assert.False(t, offered)
	names := func(mode upstream.Mode) (names []string) {
		for _, tool := range new(Gateway).toolsOf(mode, list) {
			names = append(names, tool.Name)
		}
		return names
	}
	assert.Contains(t, names(upstream.Grouped), "find")
	assert.NotContains(t, names(upstream.Trimmed), "find")
}

// The document's server has 24 tools, of which its mapping makes 32 actions: its list is the eight tools of the mapping.
func TestFindCountsToolsAndNoActions(t *testing.T) {
	var answer struct{ Result json.RawMessage }
	var mapping json.RawMessage
	findFixture(t, "../jarvis-24.json", &answer)
	findFixture(t, "../jarvis.map.json", &mapping)
	list, _, err := upstream.ParseList("jarvis", answer.Result)
	require.NoError(t, err)
	maps, err := upstream.ParseMappings(mapping, []string{"jarvis"})
	require.NoError(t, err)
	m := maps["jarvis"]
	exposed := upstream.Build([]upstream.Server{{Name: "jarvis", Tools: list, Mapping: &m}}, upstream.Grouped, upstream.Options{Target: upstream.DefaultTarget, Tokens: tokens.Estimate})
	actions := 0
	for _, e := range exposed {
		actions += len(e.Actions)
	}
	assert.GreaterOrEqual(t, actions, findFrom)
	assert.Len(t, new(Gateway).toolsOf(upstream.Grouped, exposed), 8)
}
