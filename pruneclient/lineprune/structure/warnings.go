package structure

import (
	"slices"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
)

// Warns reports whether a line is a warning of a compiler, a package manager or a runtime, whatever it warns of. The
// levels of services' logs are none: a service that warns of a refused connection has a failure.
func Warns(line string) bool {
	t := line[doc.FirstVisible(line):]
	if beginsWith(t, []string{"npm warn", "npm WARN", "warning ", "##[warning]", "::warning"}) {
		return true
	}
	if strings.HasPrefix(t, "[WARNING] ") {
		return strings.Contains(t, ".java:[") || strings.Contains(t, ".kt:")
	}
	for at := 0; ; {
		i := strings.Index(line[at:], "arning")
		if i < 1 && at == 0 || i < 0 {
			return false
		}
		start, end := at+i-1, at+i+len("arning")
		if (line[start] == 'w' || line[start] == 'W') && levelEnds(line[end:]) && !saysError(line[:start]) {
			return true
		}
		at = end
	}
}

// levelEnds reports whether what follows the word warning shows that it is the level of a message: a colon, the name of a
// check in brackets, or the number of a check and a colon.
func levelEnds(rest string) bool {
	switch {
	case rest == "":
		return false
	case rest[0] == ':' || rest[0] == '[':
		return true
	case rest[0] != ' ':
		return false
	}
	code, _, found := strings.Cut(rest[1:min(len(rest), 16)], ":")
	return found && code != "" && doc.ByteClass[code[0]] == doc.Upper && doc.ByteClass[code[len(code)-1]] == doc.Digit && !strings.Contains(code, " ")
}

// saysError reports whether an error is what a message begins with.
func saysError(start string) bool {
	return strings.Contains(start, "rror:") || strings.Contains(start, "rror[") || strings.Contains(start, "ERROR")
}

// excerpt reports whether a line is part of the excerpt of a source file that a compiler prints below its message.
func excerpt(line string) bool {
	t := line[doc.FirstVisible(line):]
	if t == "..." {
		return true
	}
	t = strings.TrimLeft(t, "0123456789> ")
	return beginsWith(t, []string{"|", "│", "--> ", "= note:", "= help:"})
}

func beginsWith(t string, starts []string) bool {
	return slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(t, start) })
}
