package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// codexNested matches the calls of tools in code.
var codexNested = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\btools\.(\w+)\s*\(\s*`) })

// codeString matches a string of JavaScript.
const codeString = "\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`"

var (
	codexMember = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^[{,\s]*["']?(\w+)["']?\s*:\s*(` + codeString + `|\d+)`)
	})
	codexPatch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^(?:(\w+)\b|(` + codeString + `))`) })
)

// CodexInner returns the call that a model's code makes, if it makes exactly one: nine of ten do. Of the arguments it has those at the
// beginning that are texts and numbers, and a patch.
func CodexInner(code string) (tool string, args map[string]any, ok bool) {
	calls := codexNested().FindAllStringSubmatchIndex(code, 2)
	if len(calls) != 1 {
		return "", nil, false
	}
	at := calls[0]
	tool, args = code[at[2]:at[3]], map[string]any{}
	rest := code[at[1]:]
	for m := codexMember().FindStringSubmatch(rest); m != nil; m = codexMember().FindStringSubmatch(rest) {
		args[m[1]], rest = codeValue(m[2]), rest[len(m[0]):]
	}
	m := codexPatch().FindStringSubmatch(rest)
	if m != nil && m[1] != "" { // the name of a constant
		_, value, _ := strings.Cut(code, "const "+m[1]+" = ")
		m = codexPatch().FindStringSubmatch(value)
	}
	if m != nil && m[2] != "" {
		args["input"] = codeValue(m[2])
	}
	return tool, args, true
}

// codeValue returns the value of a string or a number of JavaScript; nil if it has an escape that JSON does not know.
func codeValue(literal string) (value any) {
	if inner := len(literal) - 1; literal[0] == '\'' || literal[0] == '`' {
		literal = `"` + strings.NewReplacer(`\'`, `'`, "\\`", "`", `\\`, `\\`, `\"`, `\"`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(literal[1:inner]) + `"`
	}
	_ = json.Unmarshal([]byte(literal), &value) // nothing after an error
	return value
}
