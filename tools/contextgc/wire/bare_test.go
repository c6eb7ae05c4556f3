package wire

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// LiteLLM makes Chat Completions of every request: the system prompt that it puts first stands before the conversation, and names no
// session; how long Anthropic's cache keeps the prompt is said by the marks.
func TestWhatLiteLLMMakesOfARequest(t *testing.T) {
	list := func(system, mark string) string {
		return `[{"role":"system","content":"` + system + `"},{"role":"user","content":[{"type":"text","text":"fix the build"` + mark + `}]},
			{"role":"assistant","tool_calls":[{"id":"t1","function":{"name":"Bash","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":"done"}]`
	}
	var session string
	for _, c := range []struct {
		system, mark, model string
		life                time.Duration
	}{
		{"short", "", "claude-opus-5", ShortLife},
		{strings.Repeat("long ", 100), `,"cache_control":{"type":"ephemeral"}`, "anthropic/claude-opus-5", ShortLife},
		{"short", `,"cache_control":{"type":"ephemeral","ttl":"1h"}`, "claude-opus-5", LongLife},
		{"other", "", "gpt-6.2", LongLife},
	} {
		got, err := ParseMessages([]byte(list(c.system, c.mark)), c.model, nil)
		require.NoError(t, err)
		assert.Equal(t, c.life, got.Life, c)
		assert.Equal(t, len(c.system)+2, got.Base)
		assert.Equal(t, []string{"fix the build"}, got.Words(0))
		if session == "" {
			session = got.Session
		}
		assert.Equal(t, session, got.Session)
	}
	other, err := ParseMessages([]byte(strings.ReplaceAll(list("short", ""), "t1", "t2")), "claude-opus-5", nil)
	require.NoError(t, err)
	assert.NotEqual(t, session, other.Session, "of another first call")
}
