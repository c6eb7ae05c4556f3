package gateway

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/tooltest/stated"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// findFixture reads a file of the benchmark, which is stored beside the checkout.
func findFixture(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "fixtures", "gateway", "livemcpbench", name))
	if os.IsNotExist(err) {
		t.Skip("the fixtures are not here")
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, into))
}

type findTask struct {
	Question     string
	Steps, Tools []string
}

// findBenchmark returns the servers of the benchmark, and the tasks that need at least one of their tools.
func findBenchmark(t *testing.T) (servers []upstream.Server, tasks []findTask) {
	t.Helper()
	var lists []struct {
		Server string
		Tools  json.RawMessage
	}
	findFixture(t, "servers.json", &lists)
	known := map[string]bool{}
	for _, s := range lists {
		tools, _, err := upstream.ParseList(s.Server, []byte(`{"tools":`+string(s.Tools)+`}`))
		require.NoError(t, err)
		for _, d := range tools {
			known[d.Name] = true
		}
		servers = append(servers, upstream.Server{Name: s.Server, Tools: tools})
	}
	findFixture(t, "queries.json", &tasks)
	number := regexp.MustCompile(`^\d+\.\s*`)
	for i := range tasks {
		for j, name := range tasks[i].Tools {
			tasks[i].Tools[j] = number.ReplaceAllString(strings.TrimSpace(name), "")
		}
		tasks[i].Tools = slices.DeleteFunc(tasks[i].Tools, func(name string) bool { return !known[name] })
	}
	return servers, slices.DeleteFunc(tasks, func(q findTask) bool { return len(q.Tools) == 0 })
}

// findResult holds the averages of the answers to the benchmark's tasks.
type findResult struct {
	tool    float64 // fraction of the needed tools that are behind a tool of the answer
	written float64 // fraction whose parameters the answer has
	tokens  int     // of an answer
	tools   float64 // different ones in an answer
}

func measureRecall(x *toolIndex, tasks []findTask, limit int, ask func(findTask) (string, []string)) (r findResult) {
	for _, q := range tasks {
		text, steps := ask(q)
		parts, found := x.Find(text, steps, limit)
		behind, written, shown := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, h := range slices.Concat(found...) {
			shown[h.Tool.Name] = true
			for _, a := range h.Tool.Actions {
				behind[a.Def.Name] = true
			}
			for _, a := range h.Actions {
				written[a.Def.Name] = true
			}
		}
		for _, name := range q.Tools {
			if behind[name] {
				r.tool += 1 / float64(len(q.Tools)*len(tasks))
			}
			if written[name] {
				r.written += 1 / float64(len(q.Tools)*len(tasks))
			}
		}
		r.tools += float64(len(shown)) / float64(len(tasks))
		r.tokens += tokens.Estimate(foundAnswer(parts, found))
	}
	r.tokens /= len(tasks)
	return r
}

// TestRecall measures what docs/GATEWAY.md shows of find on the annotated benchmark.
func TestRecall(t *testing.T) {
	servers, tasks := findBenchmark(t)
	list := upstream.Build(servers, upstream.Grouped, upstream.Options{Target: upstream.DefaultTarget, Tokens: tokens.Estimate})
	raw := 0
	for _, s := range servers {
		raw += upstream.RawTokens(s.Tools, tokens.Estimate)
	}
	page, hundreds := stated.On(t, "docs/evidence/GATEWAY.md"), func(n int) int { return (n + 50) / 100 * 100 }
	page.Says("the servers' own lists have %s, the grouped", "RawTokens", hundreds(raw))
	page.Says("the grouped list %s, which every request", "ListTokens", hundreds(upstream.ListTokens(list, tokens.Estimate)))
	x := newToolIndex(list)
	for _, c := range []struct {
		name        string
		ask         func(findTask) (string, []string)
		at5, at10   float64 // of the exposed tools
		written5    float64
		maxTokens10 int
		tools5      float64 // different exposed tools, rounded
	}{
		{"steps", func(q findTask) (string, []string) { return "", q.Steps }, .85, .90, .75, 2400, 11},
		{"steps as one text", func(q findTask) (string, []string) { return strings.Join(q.Steps, "\n"), nil }, .85, .90, .75, 2400, 12},
		{"task and steps", func(q findTask) (string, []string) { return q.Question, q.Steps }, .85, .90, .77, 3000, 13},
		{"task", func(q findTask) (string, []string) { return q.Question, nil }, .55, .65, .45, 1600, 7},
	} {
		five, ten := measureRecall(x, tasks, 5, c.ask), measureRecall(x, tasks, 10, c.ask)
		t.Logf("%s: at 5 %.3f, written %.3f, %d tokens, %.1f tools; at 10 %.3f, written %.3f, %d tokens", c.name, five.tool, five.written, five.tokens, five.tools, ten.tool, ten.written, ten.tokens)
		assert.GreaterOrEqual(t, five.tool, c.at5, c.name)
		assert.GreaterOrEqual(t, ten.tool, c.at10, c.name)
		assert.GreaterOrEqual(t, five.written, c.written5, c.name)
		assert.LessOrEqual(t, ten.tokens, c.maxTokens10, c.name)
		assert.InDelta(t, c.tools5, five.tools, .5, c.name)
	}
}
