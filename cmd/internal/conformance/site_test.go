package conformance

import (
	"html"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	reference = regexp.MustCompile(`\s(?:href|src)="([^"]*)"`)
	ids       = regexp.MustCompile(`\sid="([^"]*)"`)
)

// TestTheSitesLinksLeadSomewhere proves that the site builds, that its search knows every page, and that every link
// within it names an existing file and an existing element. It needs hugo.
func TestTheSitesLinksLeadSomewhere(t *testing.T) {
	hugo, err := exec.LookPath("hugo")
	if err != nil {
		t.Skip("hugo is not installed")
	}
	site := t.TempDir()
	build := exec.Command(hugo, "--source", filepath.Join(top, "site"), "--destination", site)
	build.Env = append(os.Environ(), "HUGO_CACHEDIR="+t.TempDir())
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	texts := make(map[string]string)
	require.NoError(t, filepath.WalkDir(site, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	}))
	require.Greater(t, len(texts), 25)
	index, err := os.ReadFile(filepath.Join(site, "search.js"))
	require.NoError(t, err)
	for page := range texts {
		name, err := filepath.Rel(site, page)
		require.NoError(t, err)
		if name != "index.html" && name != "404.html" {
			assert.Contains(t, string(index), `"url":"`+filepath.ToSlash(name)+`"`, "the search knows no such page")
		}
	}
	links := 0
	for page, text := range texts {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			u, err := url.Parse(html.UnescapeString(m[1]))
			if !assert.NoError(t, err, page) || u.Scheme != "" {
				continue
			}
			links++
			file := page
			if u.Path != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(u.Path))
			}
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				file = filepath.Join(file, "index.html")
			}
			if !assert.FileExists(t, file, "%s links to %s", page, m[1]) || u.Fragment == "" {
				continue
			}
			var names []string
			for _, n := range ids.FindAllStringSubmatch(texts[file], -1) {
				names = append(names, html.UnescapeString(n[1]))
			}
			assert.Contains(t, names, u.Fragment, "%s links to %s", strings.TrimPrefix(page, site), m[1])
		}
	}
	assert.Greater(t, links, 1000)
}
