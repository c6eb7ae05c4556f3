package agent

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// codexNested matches the calls of tools in code.
var codexNested = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\btools\.(\w+)\s*\(\s*`) })

// codexMember matches the key of a member of an object in code, and what stands before it.
var codexMember = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[{,\s]*["']?(\w+)["']?\s*:\s*`) })

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
	if !strings.HasPrefix(rest, "{") { // a patch, or the name of a constant with one
		name := rest[:len(rest)-len(strings.TrimLeft(rest, wordChars))]
		if _, value, found := strings.Cut(code, "const "+name+" = "); found && name != "" {
			rest = value
		}
		if text, _, found := codeString(rest); found {
			args["input"] = text
		}
		return tool, args, true
	}
	for {
		m := codexMember().FindStringSubmatch(rest)
		if m == nil {
			return tool, args, true
		}
		rest = rest[len(m[0]):]
		digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
		if text, after, found := codeString(rest); found {
			args[m[1]], rest = text, after
			continue
		}
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			return tool, args, true
		}
		args[m[1]], rest = n, rest[len(digits):]
	}
}

const wordChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$"

// codeString takes a string of JavaScript, in any of its quotes, from the beginning of a text.
func codeString(code string) (value, rest string, ok bool) {
	if code == "" || !strings.Contains("\"'`", code[:1]) {
		return "", "", false
	}
	var b strings.Builder
	for i := 1; i < len(code); i++ {
		switch c := code[i]; {
		case c == code[0]:
			return b.String(), code[i+1:], true
		case c != '\\' || i+1 == len(code):
			b.WriteByte(c)
		default:
			i++
			switch at := strings.IndexByte("ntr\n", code[i]); {
			case at == 3: // the string goes on in the next line
			case at >= 0:
				b.WriteByte("\n\t\r"[at])
			case code[i] == 'u' && i+5 <= len(code):
				n, _ := strconv.ParseUint(code[i+1:i+5], 16, 16) // 0 after an error
				b.WriteRune(rune(n))
				i += 4
			default:
				b.WriteByte(code[i])
			}
		}
	}
	return "", "", false
}
