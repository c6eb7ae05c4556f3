package tooltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A conversation of three answers with thinking, and what a client may do to it.
func TestThinkingIsBoundToWhatStandsBeforeIt(t *testing.T) {
	messages := []string{`{"role":"user","content":"fix it"}`}
	request := func() string {
		return `{"system":[{"type":"text","text":"You are an agent."}],"tools":[{"name":"Bash"}],"messages":[` + strings.Join(messages, ",") + `]}`
	}
	var signatures []string
	for _, n := range []string{"1", "2", "3"} {
		s, err := SignThinking([]byte(request()))
		require.NoError(t, err)
		signatures = append(signatures, s)
		messages = append(messages, `{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"`+s+`"},{"type":"tool_use","id":"`+n+`","name":"Bash","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"`+n+`","content":"output `+n+`"}]}`)
	}
	whole := request()
	thought := func(n int) string { return `{"type":"thinking","thinking":"hm","signature":"` + signatures[n] + `"},` }
	for name, c := range map[string]struct {
		changed string
		refused bool
	}{
		"as it was":              {whole, false},
		"a mark":                 {strings.Replace(whole, `"tool_use_id":"2"`, `"cache_control":{"type":"ephemeral"},"tool_use_id":"2"`, 1), false},
		"a result as a list":     {strings.Replace(whole, `"output 1"`, `[{"type":"text","text":"output 1"}]`, 1), false},
		"the oldest left out":    {strings.Replace(whole, thought(0), "", 1), false},
		"two left out":           {strings.Replace(strings.Replace(whole, thought(0), "", 1), thought(1), "", 1), false},
		"one in the middle":      {strings.Replace(whole, thought(1), "", 1), true},
		"an old result":          {strings.Replace(whole, "output 1", "[cleared]", 1), true},
		"the last result":        {strings.Replace(whole, "output 3", "[cleared]", 1), false},
		"an argument":            {strings.Replace(whole, `"input":{}`, `"input":{"command":"x"}`, 1), true},
		"another tool":           {strings.Replace(whole, `"Bash"}]`, `"Bash"},{"name":"Read"}]`, 1), true},
		"another system prompt":  {strings.Replace(whole, "You are", "You were", 1), true},
		"the client's own words": {strings.Replace(whole, `[{"type":"text","text":"You`, `[{"type":"text","text":"x-anthropic-billing-header: 1"},{"type":"text","text":"You`, 1), false},
	} {
		require.True(t, json.Valid([]byte(c.changed)), name)
		_, message := CheckThinking([]byte(c.changed))
		assert.Equal(t, c.refused, strings.Contains(message, "bound to a different conversation"), "%s: %s", name, message)
	}
	dropping := strings.Replace(strings.Replace(whole, "output 1", "[cleared]", 1), `{"system"`, `{"thinking":{"block_binding":{"prefix_mismatch_behavior":"drop_block"}},"system"`, 1)
	dropped, message := CheckThinking([]byte(dropping))
	assert.Equal(t, []any{2, ""}, []any{dropped, message})
}
