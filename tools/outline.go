package tools

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/tools/files"
)

const (
	outlineLines = 40
	outlineWidth = 100 // bytes of a line
)

// landmark matches a line that introduces the lines after it: a definition, a heading, a
// top-level key, a table or section.
var landmark = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
		`#{1,6} \S`,
		`\[{1,2}[\w."' -]+\]{1,2}\s*$`,
		`(?:export |default |public |private |protected |internal |static |final |abstract |async |pub(?:\([a-z]+\))? |unsafe |override |open |sealed |inline |virtual |extern |const )*` +
			`(?:func|function|def|class|interface|type|struct|enum|trait|impl|fn|mod|module|namespace|package|record|object|protocol|extension|union|macro_rules!)\b`,
		`(?:create|alter|drop) (?:table|view|index|function|procedure|trigger|type)\b`,
		`(?:const|let|var) \w+ = (?:async )?(?:function\b|\(|\w+ =>)`,
		`diff --git `, `@@ -\d`, `commit [0-9a-f]{7,40}`,
		`<(?:h[1-6]|section|article|table|template|script|style)\b`,
		`[\w:<>,~&* ]+ [\w:~]+\([^;]*\)\s*(?:const\s*)?\{\s*$`,
	}, "|") + `)`)
})

// topKey is a key at the top level of YAML or TOML, and nestedKey one of a JSON
// object that is spread over lines.
var (
	topKey    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_"'][\w."' -]*(?::(?:\s|$)| = )`) })
	nestedKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:  |\t|    )"[^"]{1,80}"\s*:`) })
)

// outline returns the landmarks of a text whose first line has the number first. If there
// are too many, it returns the least indented ones.
func outline(text string, first int) []string {
	var found []mark
	n := first
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimLeft(line, " \t")
		indent := len(line) - len(bare)
		if len(line) < 2000 && (indent <= 8 && landmark().MatchString(bare) || topKey().MatchString(line) || nestedKey().MatchString(line)) {
			found = append(found, mark{n, indent, bare})
		}
		n++
	}
	for indent := 8; indent > 0 && len(found) > outlineLines; indent-- {
		fewer := slices.DeleteFunc(slices.Clone(found), func(m mark) bool { return m.indent >= indent })
		if len(fewer) > 0 {
			found = fewer
		}
	}
	step := max(1, (len(found)+outlineLines-1)/outlineLines)
	var lines []string
	for i := 0; i < len(found); i += step {
		text := found[i].text
		if len(text) > outlineWidth {
			text = string(files.CutRune([]byte(text[:outlineWidth+1]), outlineWidth)) + "…"
		}
		lines = append(lines, fmt.Sprintf("%d %s", found[i].line, text))
	}
	return lines
}

type mark struct {
	line, indent int
	text         string
}
