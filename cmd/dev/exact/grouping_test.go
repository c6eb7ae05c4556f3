package exact_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
	"github.com/mcp-pruner/mcp-pruner/tools/upstream"
)

// toolList reads a real server's tool list from the fixtures, which are beside the repository, not in it.
func toolList(t *testing.T, name string) []upstream.Definition {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "fixtures", "gateway", name+".json"))
	if os.IsNotExist(err) {
		t.Skip("the fixtures are not here")
	}
	require.NoError(t, err)
	var answer struct{ Result json.RawMessage }
	require.NoError(t, json.Unmarshal(raw, &answer))
	tools, problems, err := upstream.ParseList(name, answer.Result)
	require.NoError(t, err)
	require.Empty(t, problems)
	return tools
}

var public = []string{"filesystem", "memory", "everything", "playwright", "github-npm"}

// TestPublicServersShrink measures what docs/GATEWAY.md shows: tokens and bytes of each list.
func TestPublicServersShrink(t *testing.T) {
	o := upstream.Options{Target: upstream.DefaultTarget, Tokens: tokens.Estimate} // as the gateway does; measured exactly
	var servers []upstream.Server
	raw := 0
	for _, name := range public {
		tools := toolList(t, name)
		servers = append(servers, upstream.Server{Name: name, Tools: tools})
		before := upstream.RawTokens(tools, exact.Count)
		raw += before
		saved := map[upstream.Mode]float64{}
		for _, mode := range []upstream.Mode{upstream.Grouped, upstream.Trimmed} {
			list := upstream.Expose(servers[len(servers)-1], mode, o)
			saved[mode] = 1 - float64(upstream.ListTokens(list, exact.Count))/float64(before)
			t.Logf("%s: %d tools, %d tokens; %s: %d tools, %d tokens, %d of %d bytes", name, len(tools), before, mode, len(list),
				upstream.ListTokens(list, exact.Count), wireBytes(list), rawBytes(t, tools))
		}
		if len(tools) >= 12 {
			assert.GreaterOrEqual(t, saved[upstream.Grouped], .60, name)
		}
	}
	list := upstream.Build(servers, upstream.Grouped, o)
	saved := 1 - float64(upstream.ListTokens(list, exact.Count))/float64(raw)
	t.Logf("all: %d tokens; group: %d tokens, %.1f %% less; trim: %d tokens", raw, upstream.ListTokens(list, exact.Count), 100*saved,
		upstream.ListTokens(upstream.Build(servers, upstream.Trimmed, o), exact.Count))
	assert.GreaterOrEqual(t, saved, .80, "all five together")
}

func wireBytes(list []upstream.Exposed) (sum int) {
	for i := range list {
		sum += len(list[i].Wire())
	}
	return sum
}

func rawBytes(t *testing.T, tools []upstream.Definition) (sum int) {
	t.Helper()
	for _, d := range tools {
		text, err := json.Marshal(d)
		require.NoError(t, err)
		sum += len(text)
	}
	return sum
}
