package wire

import (
	"regexp"
	"strconv"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/contextgc"
)

// counts matches the APIs' names for token counts. If a name occurs several times, the last one counts:
// streams repeat it at their end.
var counts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(input_tokens|prompt_tokens|promptTokenCount|cache_creation_input_tokens|cache_read_input_tokens|` +
		`cached_tokens|cachedContentTokenCount|output_tokens|completion_tokens|candidatesTokenCount)"\s*:\s*(\d+)`)
})

var modelName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"model(?:Version)?"\s*:\s*"([^"]{1,80})"`) })

// failure matches the error with which an API ends an answer that it began with status 200.
var failure = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"type"\s*:\s*"error"|"error"\s*:\s*\{`) })

// IsFailure reports whether an answer, streamed or not, with this usage is an error and nothing else.
func IsFailure(text []byte, u contextgc.Usage) bool {
	return u.Input+u.Read+u.Written+u.Output == 0 && failure().Match(text)
}

// mostTokens is the largest count that is believed. A model may write any into the arguments of a call, and sums of larger ones fit nowhere.
const mostTokens = 1 << 30

// UsageIn extracts the token counts from an answer, streamed or not.
func UsageIn(text []byte) contextgc.Usage {
	var u contextgc.Usage
	inclusive, cached := false, 0
	for _, m := range counts().FindAllSubmatch(text, -1) {
		n, err := strconv.Atoi(string(m[2]))
		if err != nil || n > mostTokens {
			continue
		}
		switch string(m[1]) {
		case "input_tokens":
			u.Input = n
		case "prompt_tokens", "promptTokenCount":
			u.Input, inclusive = n, true
		case "cache_creation_input_tokens":
			u.Written = n
		case "cache_read_input_tokens":
			u.Read = n
		case "cached_tokens", "cachedContentTokenCount":
			cached, inclusive = n, true
		default:
			u.Output = n
		}
	}
	if inclusive { // OpenAI and Gemini include cached tokens in the input
		u.Read, u.Input = cached, max(0, u.Input-cached)
	}
	if m := modelName().FindSubmatch(text); m != nil {
		u.Model = string(m[1])
	}
	return u
}
