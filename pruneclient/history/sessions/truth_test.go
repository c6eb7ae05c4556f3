package sessions

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

func readTold(steps ...Step) *Bill {
	return Billed(Session{ID: "s", Source: "claude", Steps: steps}, nil)
}

func called(model string, u *Usage) Step { return Step{Kind: Call, Model: model, Usage: u} }

// Each call costs what its own model asks, in the band of its prompt, and for how long its writes are kept.
func TestPricesByModelBandAndLifetime(t *testing.T) {
	for name, c := range map[string]struct {
		model string
		usage Usage
		want  float64
	}{
		"five minutes":         {"claude-opus-4-6", Usage{Input: 10, CacheWrite: 100, CacheRead: 1000, Output: 10}, 10 + 125 + 100 + 50},
		"an hour":              {"claude-opus-4-8", Usage{Input: 10, CacheWrite: 100, Hour: 100, CacheRead: 1000, Output: 10}, 10 + 200 + 100 + 50},
		"half":                 {"claude-opus-5-5", Usage{CacheWrite: 100, Hour: 100, CacheRead: 1000, Output: 10}, 200 + 50 + 50},
		"a quarter":            {"claude-fable-5-2", Usage{CacheRead: 1000, Output: 10}, 25 + 50},
		"below the band":       {"claude-haiku-5-5", Usage{CacheRead: 100_000, Output: 10}, 10_000 + 50},
		"above the band":       {"claude-haiku-5-5", Usage{CacheRead: 100_001, Output: 10}, 50_000.5 + 250},
		"gpt-5.3":              {"gpt-5.3-codex", Usage{Input: 100, CacheRead: 1000, Output: 10}, 100 + 100 + 80},
		"gpt-5.5":              {"gpt-5.5", Usage{Input: 100, CacheRead: 1000, Output: 10}, 100 + 100 + 60},
		"gpt-6":                {"gpt-6", Usage{CacheWrite: 100, CacheRead: 1000, Output: 10}, 125 + 100 + 50},
		"gpt-6.2":              {"openai/gpt-6.2-sol", Usage{CacheWrite: 100, CacheRead: 1000, Output: 10}, 125 + 50 + 50},
		"gpt, above the band":  {"gpt-5.6", Usage{Input: 272_001, Output: 10}, 544_002 + 90},
		"not known, of Claude": {"claude-saga-1", Usage{CacheWrite: 100, CacheRead: 1000, Output: 10}, 125 + 100 + 50},
	} {
		assert.InDelta(t, c.want, readTold(called(c.model, &c.usage)).Total, 1e-6, name)
	}
	two := readTold(called("claude-opus-4-6", counted(0, 0, 1000, 0)), called("<synthetic>", counted(0, 0, 0, 0)), called("claude-opus-5-5", counted(0, 0, 1000, 0)))
	assert.InDelta(t, 100+100+50, two.Total, 1e-6, "the model changed; a message of the client's own is no call")
}

// grows is a session whose prompts grow by a factor of what Claude would count of their results, and by the thinking of each answer.
func grows(model string, factor float64, thought int) ([]Step, int) {
	out := strings.Repeat("some words of a tool's result in a line\n", 100)
	n := tokens.Claude(out)
	prompt := 10_000
	var steps []Step
	for range 8 {
		steps = append(steps, called(model, &Usage{CacheRead: prompt, Output: thought}), Step{Kind: Result, ID: "r", Tool: "Bash", Out: out})
		prompt += int(factor*float64(n)) + thought
	}
	return steps, n
}

func TestTokensAreThoseOfTheSessionsUsage(t *testing.T) {
	steps, n := grows("claude-opus-4-8", 1.4, 500)
	b := readTold(steps...)
	assert.InDelta(t, 1.4*float64(n), b.Results[0].Tokens, 2)
	assert.InDelta(t, 1.4*float64(n), b.Tokens(steps[1].Out), 2)
	short := readTold(steps[:4]...)
	assert.InDelta(t, 2.85/2.26*float64(n), short.Results[0].Tokens, 2, "too little usage: by the model")
	steps, n = grows("claude-opus-4-6", 1.1, 0)
	assert.InDelta(t, 1.1*float64(n), readTold(steps...).Results[0].Tokens, 2)
}

func TestThinkingIsCarried(t *testing.T) {
	steps, _ := grows("claude-opus-4-8", 1.4, 500)
	by, _ := readTold(steps...).Contents()
	assert.InDelta(t, 8*500*5, by[thinking].Output, 1)
	assert.Greater(t, by[thinking].Read+by[thinking].Write, 1000.0, "it stands in every later prompt")
	assert.Less(t, by[unknown].Sum(), .01*by[thinking].Sum())
	steps, _ = grows("claude-opus-4-6", 1.1, 500)
	by, _ = readTold(steps...).Contents()
	assert.Zero(t, by[thinking].Sum(), "before Opus 4.7 it is not counted")
}

// A prompt that is 3 % smaller than the one before lacks the oldest results, unless the next one has them again.
func TestWhatAClientLeavesOut(t *testing.T) {
	steps, _ := grows("claude-opus-4-6", 1.1, 0)
	steps = append(steps, called("claude-opus-4-6", &Usage{CacheRead: 12_000}), called("claude-opus-4-6", &Usage{CacheRead: 12_100}))
	b := readTold(steps...)
	assert.Equal(t, 8, b.Results[0].Until)
	assert.Equal(t, 8, b.Results[5].Until)
	assert.Less(t, b.Results[0].Weight, b.WeightFrom(1))
	steps[len(steps)-1].Usage = &Usage{CacheRead: 20_000}
	assert.Zero(t, readTold(steps...).Results[0].Until, "a request beside the conversation")
	for i := range steps {
		steps[i].Usage = nil
	}
	assert.Zero(t, readTold(steps...).Results[0].Until, "without usage nobody knows")
}

// Where the transcript says what was taken out, that explains the smaller prompt: nothing else is gone, and what a context lacks does not
// change the next one.
func TestWhatTheTranscriptSaysIsGone(t *testing.T) {
	steps, n := grows("claude-opus-4-6", 1.1, 0)
	for i := 1; i < len(steps); i += 2 {
		steps[i].ID = strconv.Itoa(i)
	}
	less := func(tokens int) Step {
		return called("claude-opus-4-6", &Usage{CacheRead: 10_000 + int(1.1*float64(n))*8 - tokens})
	}
	gone := int(1.1 * float64(n))
	steps = append(steps, Step{Kind: Drop, ID: "5"}, less(gone), less(gone))
	b := readTold(steps...)
	assert.Equal(t, 8, b.Results[2].Until)
	assert.Zero(t, b.Results[0].Until, "the transcript says which one it was")
	assert.Equal(t, []int{0, b.Results[2].Tokens}, []int{b.Calls[7].Gone, b.Calls[8].Gone})
	steps[len(steps)-1], steps[len(steps)-2] = less(4*gone), less(4*gone)
	b = readTold(steps...)
	assert.Equal(t, []int{8, 8, 8, 8, 0}, []int{b.Results[0].Until, b.Results[1].Until, b.Results[2].Until, b.Results[3].Until, b.Results[4].Until}, "and the oldest, as far as it fell further")
	b = readTold(append(steps, Step{Kind: Compact}, Step{Kind: Drop, ID: "15"}, less(0))...)
	assert.Zero(t, b.Results[7].Until, "a compaction ended it before")
}

// A result that was taken out before any prompt had it costs nothing.
func TestAResultThatWasNeverSent(t *testing.T) {
	steps, _ := grows("claude-opus-4-6", 1.1, 0)
	steps[len(steps)-1].ID = "last"
	b := readTold(append(steps, Step{Kind: Drop, ID: "last"}, steps[len(steps)-2])...)
	assert.Zero(t, b.Results[7].Weight)
	by, _ := b.Contents()
	alike, _ := readTold(append(steps[:len(steps)-1:len(steps)-1], steps[len(steps)-2])...).Contents()
	assert.InDelta(t, alike["result: Bash"].Sum(), by["result: Bash"].Sum(), 1e-6)
}

// A session whose texts are 30 % more than its usage is refused in words.
func TestARefusedSession(t *testing.T) {
	steps := []Step{called("claude-opus-4-6", counted(0, 0, 1000, 0))}
	for range 4 { // too few to calibrate by
		steps = append(steps, Step{Kind: Result, Out: strings.Repeat("words of a result ", 1000)}, called("claude-opus-4-6", counted(0, 0, 1010, 0)))
	}
	assert.Contains(t, readTold(steps...).Refused(), "% of the prompts that the API counted")
	steps, _ = grows("claude-opus-4-6", 1.1, 0)
	assert.Empty(t, readTold(steps...).Refused())
}

func TestAttachmentsThatAreNotSent(t *testing.T) {
	got := read(t, "a.jsonl", `{"type":"assistant","sessionId":"s","message":{"id":"m","usage":{"input_tokens":1},"content":"b"}}
{"type":"attachment","sessionId":"s","attachment":{"type":"hook_success","content":"ran"}}
{"type":"attachment","sessionId":"s","attachment":{"type":"diagnostics","content":"an error"}}
`)
	require.Equal(t, []Kind{Call, Say, Attach}, kinds(got[0]))
	got = read(t, "b.jsonl", `{"id":"x","src":"claude","model":"gpt-5.4","steps":[{"k":"call"},{"k":"attach","type":"hook_success","text":"ran"}]}`+"\n")
	require.Equal(t, []Kind{Call}, kinds(got[0]))
	require.Equal(t, "gpt-5.4", got[0].Model(), "of the session")
}

func TestHowLongPiKeepsItsCache(t *testing.T) {
	got := readFrom(t, "pi", strings.Replace(transcriptsOfClients["pi"], `"cacheWrite":0`, `"cacheWrite":9,"cacheWrite1h":7`, 1))
	require.Equal(t, 7, got[0].Steps[1].Usage.Hour)
}

// Tools and system prompt are the least that a call found in the cache.
func TestSystemOf(t *testing.T) {
	call := func(read, written int) Step {
		return Step{Kind: Call, Usage: &Usage{CacheRead: read, CacheWrite: written}}
	}
	for want, steps := range map[int][]Step{
		3000: {call(3000, 2000), call(5000, 100)},
		2000: {call(0, 5000), call(5000, 100), call(2000, 4000)},
		600:  {call(0, 1000), call(1000, 100)},
	} {
		b := Billed(Session{Steps: steps}, nil)
		assert.Equal(t, want, b.SystemOf(b.Calls[0].Prompt))
	}
	assert.Equal(t, ModelledSystem, Billed(Session{Steps: []Step{{Kind: Call}}}, nil).SystemOf(ModelledSystem))
}

// What a cache has lost can be seen before a call where the client changed its beginning or paused, and else only afterwards.
func TestForeseen(t *testing.T) {
	call := func(read int, at time.Duration) Step {
		return Step{Kind: Call, At: at, Usage: &Usage{CacheRead: read, Input: 10_000 - read}}
	}
	for _, c := range []struct {
		model string
		steps []Step
		want  bool
	}{
		{"claude-opus-5", []Step{call(0, 0), call(2000, time.Minute)}, true},
		{"claude-opus-5", []Step{call(0, 0), call(7000, time.Minute)}, false},
		{"gpt-5.4", []Step{call(0, 0), call(2000, time.Minute)}, false},
		{"gpt-5.4", []Step{call(0, 0), call(2000, 2*time.Hour)}, true},
		{"gpt-5.4", []Step{{Kind: Use, ID: "a", Tool: "bash"}, {Kind: Result, ID: "a", Tool: "bash", Out: "a text of some words"}, call(0, 0), {Kind: Drop, ID: "a"}, call(9000, 0)}, true},
	} {
		for i := range c.steps {
			c.steps[i].Model = c.model
		}
		assert.Equal(t, c.want, Billed(Session{Steps: c.steps}, nil).Foreseen(1), c)
	}
}
