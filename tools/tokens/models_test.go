package tokens

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The names are those of Anthropic's API, Bedrock, Vertex and OpenRouter. What is not in the table counts as bound in Anthropic's
// API only.
func TestBindsThinking(t *testing.T) {
	for _, model := range []string{"claude-opus-5-5", "claude-opus-5-5-20261001", "claude-sonnet-5-5[1m]", "claude-haiku-5-5", "claude-haiku-5", "claude-fable-5-1",
		"claude-fable-5-2", "claude-mythos-5-1", "claude-opus-6", "anthropic/claude-opus-5.5", "us.anthropic.claude-sonnet-5-5-v1:0", "claude-opus-5-5@20261001",
		"claude-opus-latest", "opus", "claude-sonnet-6-20270101"} {
		assert.True(t, BindsThinking(model, false), model)
	}
	for _, model := range []string{"claude-opus-5", "claude-opus-5-20260401", "claude-opus-4-8", "claude-opus-4-20250514", "claude-sonnet-5", "claude-sonnet-4-5-20250929",
		"claude-haiku-4-5-20251001", "claude-fable-5", "claude-mythos-5", "claude-3-5-sonnet-20241022", "claude-3-7-sonnet-latest", "claude-3-opus-20240229",
		"anthropic/claude-opus-4.6", "us.anthropic.claude-opus-5-v1:0", "claude-opus-5[1m]", "glm-4.6", "kimi-k2-thinking", "deepseek-reasoner", "qwen3-coder-plus",
		"MiniMax-M2", "gpt-6.2"} {
		assert.False(t, BindsThinking(model, true), model)
	}
	for _, model := range []string{"", "our-best-model", "claude-saga-1"} {
		assert.True(t, BindsThinking(model, true), model)
		assert.False(t, BindsThinking(model, false), model)
	}
}

func TestAModelThatNoRowNames(t *testing.T) {
	m, ok := ModelOf("our-best-model")
	assert.False(t, ok)
	assert.Equal(t, "claude", m.Word)
	assert.Equal(t, 2.0, m.CacheHour, "the dearest write")
	m, ok = ModelOf("claude-opus-9")
	assert.True(t, ok)
	assert.Equal(t, "5.5", m.From, "the newest that is known")
}

// TestDollars: a list price is that of the model and its variant; of others there is none.
func TestDollars(t *testing.T) {
	for model, price := range map[string]float64{
		"claude-opus-4-1-20250805": 15, "claude-opus-4-5": 5, "claude-opus-5": 5, "anthropic/claude-opus-5.5": 4, "claude-sonnet-4-5-20250929": 3, "claude-sonnet-5-5[1m]": 2,
		"claude-haiku-4-5-20251001": 1, "claude-haiku-5-5": .1, "claude-fable-5-2": 10, "gpt-6-luna": .1, "gpt-6.1-terra": 1, "gpt-6.2-sol": 2, "gpt-6.2-astra": 8,
		"claude-3-5-haiku-20241022": 0, "gpt-6.2-terra": 0, "gpt-5.4": 0, "gemini-4-neon": 0, "our-best-model": 0, "": 0,
	} {
		assert.Equal(t, price, Dollars(model), model)
	}
}

func TestAUsersFileOverrides(t *testing.T) {
	before := table.Load()
	t.Cleanup(func() { table.Store(before) })
	require.NoError(t, UseFile([]byte(`[{"word":"opus","vendor":"ours","input":1,"write":3,"hour":3,"read":0.5,"output":4,"chars":3,"source":"our contract","date":"2026-11"}]`)))
	m, _ := ModelOf("claude-opus-5-5")
	assert.Equal(t, 3.0, m.CacheWrite)
	m, _ = ModelOf("claude-sonnet-5-5")
	assert.Equal(t, .05, m.CacheRead)
	for _, bad := range []string{`{`, `[{"word":"opus"}]`, `[{"word":"x","from":"new","input":1,"write":1,"hour":1,"read":1,"output":1,"chars":1}]`, `[{"typo":1}]`} {
		require.Error(t, UseFile([]byte(bad)), bad)
	}
}

func TestEveryRowHasItsSource(t *testing.T) {
	for _, m := range Models() {
		assert.NotEmpty(t, m.Source, m.Word)
		assert.Regexp(t, `^20\d\d-\d\d$`, m.Date, m.Word)
	}
}

// price matches a price, a factor of one, or a lifetime of a cache.
var price = regexp.MustCompile(`\b1\.25\b|\b(Read|Write|Output|CacheRead|CacheWrite|CacheHour): *[0-9.]+[,}]|(?i)cache\w*(life|hour) *= *[0-9]`)

// No other place of the product knows a price, a factor or a lifetime.
func TestOnlyThisPackageKnowsPrices(t *testing.T) {
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == ".cache" || path == "../../cmd/dev") {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "../../tools/tokens/") {
			return err
		}
		text, err := os.ReadFile(path)
		assert.Empty(t, price.FindString(string(text)), path)
		return err
	}))
}
