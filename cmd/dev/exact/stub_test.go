package exact_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/cmd/dev/exact"
	"github.com/mcp-pruner/mcp-pruner/states/existing"
)

// TestStubs proves that the stub of a cleared result has at most 40 tokens, whatever tools, files and commands are called,
// and that real ones are recognised in it.
func TestStubs(t *testing.T) {
	const way = "mcp-pruner recover prn_3ddf8b97"
	for _, c := range []struct {
		tool, subject string
		lines         int
		want          string
	}{
		{"Bash", "go test ./...", 812, "[cleared Bash go test ./...: 812 lines; `mcp-pruner recover prn_3ddf8b97` prints them]"},
		{"Read", "/home/me/src/app/internal/proxy/server.go", 286, "[cleared Read .../proxy/server.go: 286 lines; `mcp-pruner recover prn_3ddf8b97` prints them]"},
		{"exec_command", "ls -la\nrm x", 1, "[cleared exec_command ls -la: 1 line; `mcp-pruner recover prn_3ddf8b97` prints them]"},
		{"", "", 3, "[cleared result: 3 lines; `mcp-pruner recover prn_3ddf8b97` prints them]"},
		{"Read", "a`b]\x00[c", 3, "[cleared Read abc: 3 lines; `mcp-pruner recover prn_3ddf8b97` prints them]"},
	} {
		got := existing.Stub(c.tool, c.subject, c.lines, way)
		assert.Equal(t, c.want, got)
		assert.LessOrEqual(t, exact.Count(got), existing.MaxStub, got)
	}
	random := rand.New(rand.NewPCG(1, 2))
	alphabets := []string{"qxzjvkw", "abcdefghijklmnopqrstuvwxyz", "aAbBxXqQ", "0123456789", "/.-_", "äöüß", "世界文件", "🜁🝔🝳𒀀", "\u202e\u0301\u200d", " \t", `!"#$%&'()*+,;<=>?@[\]^{|}~` + "`", "\xff\xfe\x80"}
	name := func() string {
		var b strings.Builder
		for range random.IntN(60) {
			letters := []rune(alphabets[random.IntN(len(alphabets))])
			for range 1 + random.IntN(8) {
				b.WriteRune(letters[random.IntN(len(letters))])
			}
		}
		return b.String()
	}
	longest := 0
	for range 20_000 {
		got := existing.Stub(name(), name(), random.IntN(10_000_000), way)
		n := exact.Count(got)
		require.LessOrEqual(t, n, existing.MaxStub, "%q", got)
		longest = max(longest, n)
		require.Equal(t, 2, strings.Count(got, "`"))
		require.NotContains(t, got, "\n")
	}
	t.Logf("the longest of them has %d tokens", longest)
}
