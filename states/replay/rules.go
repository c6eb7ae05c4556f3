package replay

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// said applies the rules to a message of the agent, which may quote lines and mention names and places.
func (g *goldFinder) said(text string) {
	for _, line := range strings.Split(text, "\n") {
		g.quoted(strings.TrimSpace(line))
	}
	for _, span := range ticked().FindAllStringSubmatch(text, -1) {
		g.quoted(strings.TrimSpace(span[1]))
		for _, name := range identifiers(span[1]) {
			g.named(name, 1, nameCalls, ruleCite)
		}
	}
	for _, m := range fileLine().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(m[2])
		g.placed(m[1], n)
	}
	g.know(text)
}

// ticked matches a span in backticks.
var ticked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("`([^`\n]{3,300})`") })

var fileLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([\w./\\-]+\.\w{1,5}):(\d{1,6})\b`) })

func blankless(s string) int { return len(s) - strings.Count(s, " ") - strings.Count(s, "\t") }

// quoted is a whole line in the agent's words.
func (g *goldFinder) quoted(line string) {
	if blankless(line) < quoteChars {
		return
	}
	for _, form := range []string{line, strings.TrimLeft(line, "-*+>0123456789. ")} {
		at, ok := g.lines[form]
		if ok && at.line >= 0 && !at.seen && g.call-at.text.call <= quoteCalls {
			g.mark(at.text, at.line, ruleQuoteSay)
			return
		}
	}
}

// named is an identifier that at most so many lines of one result brought up.
func (g *goldFinder) named(name string, lines, calls int, why rule) {
	id := g.idents[name]
	if id == nil || id.text == nil || len(id.lines) > lines || g.call-id.text.call > calls {
		return
	}
	for _, line := range id.lines {
		g.mark(id.text, line, why)
	}
}

// placed is file:line in the agent's words: the hit of a search or command that names it so.
func (g *goldFinder) placed(file string, n int) {
	place := path.Base(file) + ":" + strconv.Itoa(n)
	for _, t := range slices.Backward(g.texts) {
		if g.call-t.call > quoteCalls {
			return
		}
		for i, line := range t.text.Lines {
			if _, rest, found := strings.Cut(line, place); found && (rest == "" || rest[0] < '0' || rest[0] > '9') {
				g.mark(t, i, ruleFileLine)
				return
			}
		}
	}
}

// used applies the rules to a tool call.
func (g *goldFinder) used(c history.ToolCall) {
	switch c.Kind {
	case history.Edit, history.Write:
		for _, r := range c.Replace {
			g.edited(cmp.Or(r.File, c.File), r)
		}
		if c.Kind == history.Write {
			g.rewritten(c)
		}
	case history.Bash:
		g.commanded(c.Command)
		g.looked(c)
	case history.Read:
		g.looked(c)
	case history.Grep:
		for _, name := range identifiers(c.Pattern) {
			g.named(name, 2, lookCalls, ruleIdent)
		}
		g.know(c.Pattern)
	}
}

// edited finds the latest text that shows what an edit replaces, and the lines
// copied into what it writes.
func (g *goldFinder) edited(file string, r history.Replacement) {
	old := strings.Split(strings.Trim(r.Old, "\n"), "\n")
	switch {
	case r.Old == "":
	case len(old) <= maxEditLines:
		g.replaced(file, old, ruleEdit)
	default:
		g.replaced(file, old, RuleRewrite)
	}
	g.copied(r)
	for _, name := range identifiers(r.New) {
		if !strings.Contains(r.Old, name) {
			g.named(name, 1, nameCalls, ruleCite)
		}
	}
	g.know(r.New)
}

// replaced marks the lines of the latest text that holds all of old, once. What the
// agent wrote itself before it read is known to it.
func (g *goldFinder) replaced(file string, old []string, why rule) {
	for _, t := range slices.Backward(g.texts) {
		if t.file != "" && file != "" && !history.Same(t.file, file) {
			continue
		}
		at, n := find(t.text.Lines, old)
		if n == 0 {
			continue
		}
		if n == 1 {
			for i := range old {
				g.mark(t, at+i, why)
			}
		}
		return
	}
}

// rewritten marks the lines that a file keeps when it is written anew after it was read: the agent writes them from what it
// was shown.
func (g *goldFinder) rewritten(c history.ToolCall) {
	for _, t := range slices.Backward(g.texts) {
		if t.file == "" || !history.Same(t.file, c.File) {
			continue
		}
		stays := map[string]bool{}
		for _, r := range c.Replace {
			for line := range strings.SplitSeq(r.New, "\n") {
				stays[strings.TrimSpace(line)] = true
			}
		}
		for i, line := range t.text.Lines {
			if stays[strings.TrimSpace(line)] {
				g.mark(t, i, RuleRewrite)
			}
		}
		return
	}
}

// find counts where old stands in lines; its first and last line may be parts.
func find(lines, old []string) (at, n int) {
	for i := 0; i+len(old) <= len(lines); i++ {
		if matches(lines[i:i+len(old)], old) {
			at, n = i, n+1
		}
	}
	return at, n
}

func matches(lines, old []string) bool {
	last := len(old) - 1
	if last == 0 {
		return strings.Contains(lines[0], old[0])
	}
	for i := 1; i < last; i++ {
		if lines[i] != old[i] {
			return false
		}
	}
	return strings.HasSuffix(lines[0], old[0]) && strings.HasPrefix(lines[last], old[last])
}

// copied marks lines that an edit or write takes over from a result.
func (g *goldFinder) copied(r history.Replacement) {
	oldLines := map[string]bool{}
	for _, line := range strings.Split(r.Old, "\n") {
		oldLines[strings.TrimSpace(line)] = true
	}
	var previous lineAt
	for _, line := range strings.Split(r.New, "\n") {
		key := strings.TrimSpace(line)
		at, ok := g.lines[key]
		if !ok || at.line < 0 || at.seen || oldLines[key] || g.call-at.text.call > quoteCalls {
			previous = lineAt{}
			continue
		}
		adjacent := previous.text == at.text && previous.line+1 == at.line
		if blankless(key) >= quoteCodeChars || adjacent {
			g.mark(at.text, at.line, ruleQuoteCode)
		}
		if adjacent {
			g.mark(previous.text, previous.line, ruleQuoteCode)
		}
		previous = at
	}
}

// commanded marks runs of three lines and more that a command copies.
func (g *goldFinder) commanded(command string) {
	var run []lineAt
	flush := func() {
		if len(run) >= 3 {
			for _, at := range run {
				g.mark(at.text, at.line, ruleQuoteCmd)
			}
		}
		run = nil
	}
	for _, line := range strings.Split(command, "\n") {
		at, ok := g.lines[strings.TrimSpace(line)]
		if !ok || at.line < 0 || at.seen {
			flush()
			continue
		}
		if len(run) > 0 && (run[len(run)-1].text != at.text || run[len(run)-1].line+1 != at.line) {
			flush()
		}
		run = append(run, at)
	}
	flush()
	g.know(command)
}

// looked marks the hits of a search that the next look opens, and the line of a
// listing that first named the file.
func (g *goldFinder) looked(c history.ToolCall) {
	file, from, to := c.FileRead()
	if file == "" {
		if c.Kind == history.Bash {
			for _, name := range identifiers(grepPattern(c.Command)) {
				g.named(name, 2, lookCalls, ruleIdent)
			}
		}
		return
	}
	for _, t := range slices.Backward(g.texts) {
		if g.call-t.call > lookCalls {
			return
		}
		if t.file == "" && (g.opened(t, file, from, to) || g.listed(t, file)) {
			return
		}
	}
}

// grepPattern returns the pattern that a shell command searches for.
func grepPattern(command string) string {
	if m := searched().FindStringSubmatch(command); m != nil {
		return m[1]
	}
	return ""
}

var searched = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:grep|rg|ag)\b((?:\s+(?:-\S+|"[^"]*"|'[^']*'|[^\s|;&]+)){1,4})`)
})

// opened marks the hits in the range that was opened, at most three.
func (g *goldFinder) opened(t *shownText, file string, from, to int) bool {
	if to == 0 || to-from >= maxLookLines {
		return false
	}
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	var hits []int
	for i, line := range t.text.Lines {
		if len(line) > 4096 || !strings.Contains(line, base) {
			continue
		}
		if m := hit().FindStringSubmatch(line); m != nil && history.Same(file, m[1]+m[3]) {
			if n, _ := strconv.Atoi(m[2] + m[4]); n >= from && n <= to {
				hits = append(hits, i)
			}
		}
	}
	if len(hits) == 0 || len(hits) > maxLookHits {
		return false
	}
	for _, i := range hits {
		g.mark(t, i, ruleOpen)
	}
	return true
}

// hit is path:N or File "path", line N.
var hit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:([\w./\\@+-]+):(\d+)[:\-]|.*?File "([^"]+)", line (\d+))`)
})

// listed marks the one line of a listing that is the file, where it is new.
func (g *goldFinder) listed(t *shownText, file string) bool {
	found := -1
	for i, line := range t.text.Lines {
		name := strings.TrimSpace(line)
		if len(name) > 4 && !strings.ContainsAny(name, " \t:") && history.Same(name, file) {
			if found >= 0 {
				return false
			}
			found = i
		}
	}
	if found < 0 || g.lines[strings.TrimSpace(t.text.Lines[found])].seen {
		return false
	}
	g.mark(t, found, rulePath)
	return true
}
