package tokens

import (
	"testing"

	"github.com/stretchr/testify/assert"
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
