package upstream

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// fixture reads a file of real tool lists, which are stored beside the checkout.
func fixture(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "fixtures", "gateway", filepath.FromSlash(name)))
	if os.IsNotExist(err) {
		t.Skip("the fixtures are not here")
	}
	require.NoError(t, err)
	return raw
}

func fixtureTools(t *testing.T, name string) []Definition {
	t.Helper()
	var answer struct{ Result json.RawMessage }
	require.NoError(t, json.Unmarshal(fixture(t, name+".json"), &answer))
	tools, problems, err := ParseList(name, answer.Result)
	require.NoError(t, err)
	require.Empty(t, problems)
	return tools
}

func TestTheDocumentsServer(t *testing.T) {
	tools := fixtureTools(t, "jarvis-24")
	for i := range tools {
		tools[i].Server = "jarvis"
	}
	maps, err := ParseMappings(fixture(t, "jarvis.map.json"), []string{"jarvis"})
	require.NoError(t, err)
	m := maps["jarvis"]
	require.Empty(t, m.Unknown(tools))
	list := Build([]Server{{Name: "jarvis", Tools: tools, Mapping: &m}}, Grouped, options)
	var names []string
	bytes := 0
	for i := range list {
		e := &list[i]
		names = append(names, e.Name)
		bytes += len(e.Wire()) + 1
		assert.LessOrEqual(t, len([]rune(e.Description)), maxDescription, e.Name)
		for _, a := range e.actionNames() {
			assert.Contains(t, e.Description, a, e.Name)
		}
	}
	assert.Equal(t, []string{"jarvis_check_status", "jarvis_client", "jarvis_config", "jarvis_profile", "jarvis_project",
		"jarvis_server", "jarvis_share", "jarvis_system"}, names)
	assert.Less(t, bytes, 4000)
	assert.Equal(t, []string{""}, find(t, list, "jarvis_check_status").actionNames())
	assert.Equal(t, []string{"create", "edit", "info", "install", "list", "search", "uninstall", "usage"}, find(t, list, "jarvis_server").actionNames())
}

// TestFindability ranks the exposed tools for the queries of an annotated benchmark. The
// needed tools must be found at least as well as in the servers' own list, in every mode and
// with every target. A mode may lose no more than a rounding error.
func TestFindability(t *testing.T) {
	var queries []query
	require.NoError(t, json.Unmarshal(fixture(t, "livemcpbench/queries.json"), &queries))
	o := Options{Target: DefaultTarget, Tokens: tokens.Estimate}
	all := benchServers(t)
	known := map[string]bool{}
	// Tools of several servers with the same name need the server's name as a prefix in any
	// case.
	names := map[string]string{}
	for _, e := range Build(all, Trimmed, o) {
		names[e.Server()+"/"+e.Actions[0].Def.Name] = e.Name
	}
	raw := index{}
	for _, s := range all {
		for _, d := range s.Tools {
			known[d.Name] = true
			raw.add(names[s.Name+"/"+d.Name]+" "+d.Description+" "+parameterNames(d.InputSchema, false), d.Name)
		}
	}
	before := raw.recall(queries, known)
	for _, form := range []struct {
		mode  Mode
		split bool
	}{{Grouped, false}, {Grouped, true}, {Trimmed, false}} {
		for _, target := range []float64{0, .60, DefaultTarget, .90} {
			o.SplitRW, o.Target = form.split, target
			list := Build(all, form.mode, o)
			after := exposedIndex(list).recall(queries, known)
			t.Logf("%s, split %t, target %.2f, %d tools: %.3f, the raw list %.3f", form.mode, form.split, target, len(list), after, before)
			for i := range before {
				assert.GreaterOrEqual(t, after[i], before[i]-.001, "%v, target %v, figure %d", form, target, i)
			}
		}
	}
}

// exposedIndex indexes what a search sees of the exposed tools.
func exposedIndex(list []Exposed) *index {
	shown := &index{}
	for _, e := range list {
		var gold []string
		for _, a := range e.Actions {
			gold = append(gold, a.Def.Name)
		}
		shown.add(e.Name+" "+e.Description+" "+parameterNames(e.InputSchema, e.Actions[0].Name != ""), gold...)
	}
	return shown
}

type query struct {
	Question string
	Steps    []string
	Tools    []string
}

// parameterNames returns the words of a schema that a search indexes: parameter names, and
// the action lines of a grouped tool.
func parameterNames(schema []byte, grouped bool) string {
	var s struct {
		Properties map[string]struct {
			Description string
			Enum        []string
		}
	}
	if json.Unmarshal(schema, &s) != nil {
		return ""
	}
	var names []string
	for name, p := range s.Properties {
		names = append(names, name)
		if name == "action" && grouped {
			names = append(names, p.Description)
			names = append(names, p.Enum...)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// index is a BM25 index with the usual constants.
type index struct {
	docs []document
	df   map[string]int
	size int
}

type document struct {
	count map[string]int
	size  int
	gold  []string
}

var (
	camel = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	term  = regexp.MustCompile(`[a-z0-9]+|[^\x00-\x7f]`)
)

func terms(text string) []string {
	return term.FindAllString(strings.ToLower(camel.ReplaceAllString(text, "$1 $2")), -1)
}

func (x *index) add(text string, gold ...string) {
	if x.df == nil {
		x.df = map[string]int{}
	}
	d := document{count: map[string]int{}, gold: gold}
	for _, w := range terms(text) {
		if d.count[w]++; d.count[w] == 1 {
			x.df[w]++
		}
		d.size++
	}
	x.size += d.size
	x.docs = append(x.docs, d)
}

func (x *index) rank(text string) []int {
	mean := float64(x.size) / float64(len(x.docs))
	scores, order := make([]float64, len(x.docs)), make([]int, len(x.docs))
	for i, d := range x.docs {
		order[i] = i
		for _, w := range terms(text) {
			f := float64(d.count[w])
			rarity := math.Log(1 + (float64(len(x.docs))-float64(x.df[w])+.5)/(float64(x.df[w])+.5))
			scores[i] += rarity * f * 2.2 / (f + 1.2*(.25+.75*float64(d.size)/mean))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		}
		return 0
	})
	return order
}

// recall returns the mean fraction of needed tools among the first 5, 10 and 20 results,
// first for searches by the task's text, then by its steps.
func (x *index) recall(queries []query, known map[string]bool) (figures [6]float64) {
	n := 0.0
	number := regexp.MustCompile(`^\d+\.\s*`)
	for _, q := range queries {
		var gold []string
		for _, g := range q.Tools {
			if g = number.ReplaceAllString(strings.TrimSpace(g), ""); known[g] {
				gold = append(gold, g)
			}
		}
		if len(gold) == 0 {
			continue
		}
		n++
		for k, text := range []string{q.Question, strings.Join(q.Steps, " ")} {
			order := x.rank(text)
			for j, first := range []int{5, 10, 20} {
				hits := 0
				for _, g := range gold {
					if slices.ContainsFunc(order[:first], func(i int) bool { return slices.Contains(x.docs[i].gold, g) }) {
						hits++
					}
				}
				figures[k*3+j] += float64(hits) / float64(len(gold))
			}
		}
	}
	for i := range figures {
		figures[i] /= n
	}
	return figures
}

func has(list []Exposed, name string) bool {
	return slices.ContainsFunc(list, func(e Exposed) bool { return e.Name == name })
}
