package tokens

import (
	"strconv"
	"strings"
	"unicode"
)

// From some models on, Anthropic's API binds each block of thinking to everything that stands before it in the request: system
// prompt, tools and messages. Once one of these changes, the API refuses the block, or drops it if the request asks for that.
// Allowed are appending, moving cache_control, and leaving out thinking, the oldest first.

// family is what is known of the models with one word in their names.
type family struct {
	word   string
	free   [2]int // the last version, with its minor number, whose thinking is bound to nothing
	source string
	date   string
}

// every is later than all versions.
var every = [2]int{1 << 20, 0}

// The models of Anthropic, and models of others that are reached in the form of Anthropic's API.
const (
	boundSource = "platform.claude.com, build-with-claude/preserved-thinking: bound from Fable 5.1, Mythos 5.1, Opus 5.5, Sonnet 5.5 and Haiku 5.5 on"
	otherSource = "the vendor's page on its endpoint in Anthropic's form: signatures of thinking are not checked, or there are none"
)

var families = []family{
	{"opus", [2]int{5, 0}, boundSource, "2026-11"},
	{"sonnet", [2]int{5, 0}, boundSource, "2026-11"},
	{"haiku", [2]int{4, 5}, boundSource, "2026-11"},
	{"fable", [2]int{5, 0}, boundSource, "2026-11"},
	{"mythos", [2]int{5, 0}, boundSource, "2026-11"},
}

var others = []family{
	{"glm", every, otherSource, "2026-11"},
	{"kimi", every, otherSource, "2026-11"},
	{"deepseek", every, otherSource, "2026-11"},
	{"qwen", every, otherSource, "2026-11"},
	{"minimax", every, otherSource, "2026-11"},
	{"gpt", every, otherSource, "2026-11"},
	{"gemini", every, otherSource, "2026-11"},
	{"grok", every, otherSource, "2026-11"},
}

// BindsThinking reports whether a model's API binds thinking to what stands before it. Of a model that is not known it returns
// what the caller knows of all models of that API.
func BindsThinking(model string, unknown bool) bool {
	parts := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for at, part := range parts {
		for _, f := range families {
			if part != f.word {
				continue
			}
			version, known := versionAt(parts, at)
			return !known || version[0] > f.free[0] || version[0] == f.free[0] && version[1] > f.free[1]
		}
	}
	for _, part := range parts {
		for _, f := range others {
			if strings.HasPrefix(part, f.word) {
				return false
			}
		}
	}
	return unknown
}

// versionAt returns the version of the model whose family is a part of its name: behind it, as in claude-opus-4-8-20260301, or
// before it, as in claude-3-5-sonnet-20241022.
func versionAt(parts []string, at int) (version [2]int, known bool) {
	for _, digits := range [][]string{parts[at+1:], leading(parts[:at])} {
		for i := range min(2, len(digits)) {
			n, err := strconv.Atoi(digits[i])
			if err != nil || len(digits[i]) > 2 { // a date
				break
			}
			version[i], known = n, true
		}
		if known {
			return version, true
		}
	}
	return version, false
}

// leading returns the numbers at the end of a list.
func leading(parts []string) []string {
	from := len(parts)
	for from > 0 && len(parts[from-1]) <= 2 && strings.Trim(parts[from-1], "0123456789") == "" {
		from--
	}
	return parts[from:]
}
