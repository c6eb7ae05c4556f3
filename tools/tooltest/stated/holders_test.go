package stated

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A holder is what holds numbers of a page: a sentence of testdata/constants.txt or of a file *stated_test.go, or an entry of
// testdata/numbers.txt.
type holder struct {
	page string
	// text is a sentence with %s for the number, or a phrase of the page; a phrase with a sum is the beginning of a block.
	text string
	// by says what holds the numbers: package and constant, or the reason of the entry.
	by string
	// sum is the checksum of the numbers of a block that no sentence and no phrase holds, or * where another test holds them.
	sum      string
	sentence bool
}

// sentences returns what constants.txt and the *stated_test.go files below the folder say.
func sentences(top string) (all []holder, err error) {
	constants, err := readConstants()
	if err != nil {
		return nil, err
	}
	for _, s := range constants {
		all = append(all, holder{page: s.page, text: s.sentence, by: s.pkg + " " + s.expression, sentence: true})
	}
	err = filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(d.Name(), "stated_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(top, filepath.Dir(path))
		all = append(all, sentencesOf(file, filepath.ToSlash(folder))...)
		return err
	})
	return all, err
}

// sentencesOf returns the sentences of a file of a package: stated.On(t, "PAGE").Says("SENTENCE", "NAME", value), or the same in two
// statements.
func sentencesOf(file *ast.File, pkg string) (all []holder) {
	page := ""
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch words := literals(call); {
		case called(call, "On") && len(words) == 1:
			page = words[0]
		case called(call, "Says") && len(words) == 2:
			if on, ok := call.Fun.(*ast.SelectorExpr).X.(*ast.CallExpr); ok && called(on, "On") {
				page = strings.Join(literals(on), "")
			}
			all = append(all, holder{page: page, text: words[0], by: pkg + " " + words[1], sentence: true})
		}
		return true
	})
	return all
}

func called(call *ast.CallExpr, method string) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	return ok && f.Sel.Name == method
}

// literals returns the strings among a call's arguments.
func literals(call *ast.CallExpr) (all []string) {
	for _, arg := range call.Args {
		if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// readEntries reads a file of entries: a line "PAGE: REASON", then the phrases that the reason is of, one a line behind a tab.
// A phrase that ends with " = " and a checksum is the beginning of a block, which ends at the next blank line, or, if it
// begins with #, at the next heading of its level.
func readEntries(path string) (all []holder, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	page, by := "", ""
	for i, line := range strings.Split(string(text), "\n") {
		phrase, isPhrase := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case isPhrase:
			phrase, sum, _ := strings.Cut(phrase, " = ")
			all = append(all, holder{page: page, text: phrase, by: by, sum: sum})
		default:
			var ok bool
			if page, by, ok = strings.Cut(line, ": "); !ok {
				return nil, fmt.Errorf("%s:%d: want PAGE: REASON, got %q", path, i+1, line)
			}
		}
	}
	return all, nil
}

// A span is a part of a page, from one byte offset to before another.
type span struct{ from, to int }

// inNames matches what has digits and states no number: fenced code, addresses, dates, versions, ordinals of a list, and words such as
// UTF-8, gpt-5.5, o200k, kill -9 and 2>&1.
var inNames = regexp.MustCompile("(?ms)^ *```.*?^ *```$|\\]\\([^)\\s]*\\)|https?://[^\\s)`]*|\\b\\d{4}-\\d\\d-\\d\\d(T[\\d:]+Z)?|" +
	`\b\d+\.\d+\.\d+[-.\w]*|^ *\d+\. |[A-Za-z_][\w.-]*-\d[\d.]*\b|[A-Za-z_]\w*|\b[0-9]+[a-z]+[0-9]\w*|-9\b|2>&1|::1\b`)

var digits = regexp.MustCompile(`[0-9](?:[0-9.,]*[0-9])?`)

// numbersOf returns where a page has numbers.
func numbersOf(text string) (all []span) {
	masked := inNames.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("x", len(s)) })
	for _, at := range digits.FindAllStringIndex(masked, -1) {
		all = append(all, span{at[0], at[1]})
	}
	return all
}

// holds returns which of the numbers of a page the holder holds.
func (h holder) holds(text string, numbers []span) (held []span) {
	if h.sum != "" {
		return within(numbers, h.block(text))
	}
	pattern, group := flexible(h.text), 0
	if h.sentence {
		pattern, group = strings.Replace(pattern, "%s", number, 1), 2
	}
	for _, at := range regexp.MustCompile(pattern).FindAllStringSubmatchIndex(text, -1) {
		held = append(held, within(numbers, span{at[group], at[group+1]})...)
	}
	return held
}

// block returns the part of a page that begins with the holder's text.
func (h holder) block(text string) span {
	at := regexp.MustCompile(`(?m)` + flexible(h.text)).FindStringIndex(text)
	if at == nil {
		return span{}
	}
	end := regexp.MustCompile(`\n\n`)
	if level := len(h.text) - len(strings.TrimLeft(h.text, "#")); level > 0 {
		end = regexp.MustCompile(fmt.Sprintf(`\n#{1,%d} `, level))
	}
	to := len(text)
	if e := end.FindStringIndex(text[at[1]:]); e != nil {
		to = at[1] + e[0]
	}
	return span{at[0], to}
}

func within(numbers []span, part span) (held []span) {
	for _, n := range numbers {
		if n.from < part.to && part.from < n.to {
			held = append(held, n)
		}
	}
	return held
}

func checksum(text string, numbers []span) string {
	sum := crc32.NewIEEE()
	for _, n := range numbers {
		fmt.Fprintln(sum, text[n.from:n.to])
	}
	return fmt.Sprintf("%08x", sum.Sum32())
}

// check returns what is wrong on a page: numbers that nothing holds, entries that hold none, and blocks whose numbers have
// changed, with the checksum that each block has. Sentences hold first, then phrases, then blocks.
func check(page, text string, holders []holder) (faults []string, sums map[holder]string) {
	slices.SortStableFunc(holders, func(a, b holder) int { return cmp.Compare(a.rank(), b.rank()) })
	open, sums := numbersOf(text), map[holder]string{}
	for _, h := range holders {
		held := h.holds(text, open)
		if len(held) == 0 && !h.sentence {
			faults = append(faults, fmt.Sprintf("%s: no number is left for the entry %q", page, h.text))
		}
		if h.sum != "" && h.sum != "*" {
			if sums[h] = checksum(text, held); sums[h] != h.sum {
				faults = append(faults, fmt.Sprintf("%s: numbers in the block %q have changed (%s); -update takes them", page, h.text, h.by))
			}
		}
		open = slices.DeleteFunc(open, func(s span) bool { return slices.Contains(held, s) })
	}
	for _, n := range open {
		line := 1 + strings.Count(text[:n.from], "\n")
		faults = append(faults, fmt.Sprintf("%s:%d: nothing holds %s in %q", page, line, text[n.from:n.to], around(text, n)))
	}
	return faults, sums
}

func (h holder) rank() int {
	switch {
	case h.sentence:
		return 0
	case h.sum == "":
		return 1
	}
	return 2
}

// around returns a number with what its line has beside it.
func around(text string, n span) string {
	from := max(n.from-40, 1+strings.LastIndex(text[:n.from], "\n"))
	line, _, _ := strings.Cut(text[n.to:], "\n")
	return text[from : n.to+min(len(line), 40)]
}

// pages returns the pages whose numbers are held.
func pages(top string) (all []string, err error) {
	for _, pattern := range []string{"README.md", "SECURITY.md", "docs/*.md", "docs/clients/*.md", "docs/decisions/*.md", "docs/evidence/*.md", "testdata/help.txt"} {
		found, err := filepath.Glob(filepath.Join(top, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			path, _ = filepath.Rel(top, path)
			all = append(all, filepath.ToSlash(path))
		}
	}
	slices.Sort(all)
	return all, nil
}
