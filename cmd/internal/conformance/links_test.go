package conformance

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const top = "../../.."

var (
	link    = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)|<img src="([^"]+)"`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	heading = regexp.MustCompile(`(?m)^#{1,6} (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// pages lists the Markdown files of the repository, except those below cmd, which are parts of pages, and build output.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "cmd" || name == "dist" || name == "bin" || len(name) > 2 && name[0] == '.') {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, ".md") {
			found = append(found, path)
		}
		return nil
	}))
	return found
}

// TestLinksLeadSomewhere proves that every link between pages names an existing file and an existing heading.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(string(text), ""), -1) {
			target := m[1] + m[2]
			if u, err := url.Parse(target); err != nil || u.Scheme != "" {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			if file = filepath.Join(filepath.Dir(page), filepath.FromSlash(file)); strings.HasPrefix(target, "#") {
				file = page
			}
			_, err := os.Stat(file)
			if assert.NoError(t, err, "%s links to %s", page, target) && anchor != "" {
				assert.Contains(t, anchors(t, file), anchor, "%s links to %s", page, target)
			}
		}
	}
}

// anchors returns the link names of a page's headings.
func anchors(t *testing.T, page string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, m := range heading.FindAllStringSubmatch(string(text), -1) {
		plain := noSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		names = append(names, strings.ReplaceAll(plain, " ", "-"))
	}
	return names
}

// TestFirstPagesFitATerminal proves that the pages that people read first, often in a terminal, have no line of more
// than 160 columns.
func TestFirstPagesFitATerminal(t *testing.T) {
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md", "npm/README.md", "plugin/README.md"} {
		text, err := os.ReadFile(filepath.Join(top, page))
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 160, "%s, line %d", page, i+1)
		}
	}
}

// TestEveryPageIsInTheSite proves that the site's table of contents lists every page under docs/. The index of decisions lists these.
func TestEveryPageIsInTheSite(t *testing.T) {
	contents, err := os.ReadFile(filepath.Join(top, "site/hugo.toml"))
	require.NoError(t, err)
	for _, page := range pages(t) {
		name, ok := strings.CutPrefix(filepath.ToSlash(page), top+"/docs/")
		if ok && !record.MatchString(name) {
			assert.Contains(t, string(contents), `"`+strings.TrimSuffix(name, ".md")+`"`)
		}
	}
}

var (
	record = regexp.MustCompile(`^decisions/(\d{3})-[a-z0-9-]+\.md$`)
	status = regexp.MustCompile(`^# (.+)\n\nDate: 20\d\d-\d\d-\d\d\. Status: (?:in force|replaced by \d{3})\.\n\n` +
		`\*\*Context\.\*\* (?s:.+)\n\n\*\*Decision\.\*\* (?s:.+)\n\n\*\*Consequence\.\*\* `)
)

// TestDecisions proves that each decision has a number of its own, date and status, and that the index lists their titles. A
// number may be left out: branches take theirs before they are merged.
func TestDecisions(t *testing.T) {
	last := 0
	var index strings.Builder
	for _, page := range pages(t) {
		name, _ := strings.CutPrefix(filepath.ToSlash(page), top+"/docs/")
		number := record.FindStringSubmatch(name)
		if number == nil {
			continue
		}
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		head := status.FindStringSubmatch(string(text))
		require.NotNil(t, head, "%s: want title, date, status, context, decision and consequence", name)
		n, err := strconv.Atoi(number[1])
		require.NoError(t, err)
		require.Greater(t, n, last, name)
		last = n
		fmt.Fprintf(&index, "%d. [%s](%s)\n", n, head[1], filepath.Base(name))
	}
	page, err := os.ReadFile(filepath.Join(top, "docs/decisions/README.md"))
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(page), "\n1. ")
	assert.Equal(t, index.String(), "1. "+list)
}

// TestNoPageRunsAnUnownedPackage proves that no page starts mcp-pruner by npx, in words or in an editor's link: the name on npm is not
// ours before the first release, and whoever takes it would be run.
func TestNoPageRunsAnUnownedPackage(t *testing.T) {
	npx := regexp.MustCompile(`(npx|bunx)(\s+-\S+)*\s+mcp-pruner|%22npx%22|` + base64.StdEncoding.EncodeToString([]byte(`{"command":"npx`)))
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Empty(t, npx.FindString(string(text)), page)
	}
}
