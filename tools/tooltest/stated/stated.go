// Package stated ties the numbers that the pages state to the constants of the code, for tests.
package stated

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Page is a page of the repository, such as docs/HOOKS.md.
type Page struct {
	t          *testing.T
	path, text string
}

// On reads a page, by its path below the top of the repository.
func On(t *testing.T, path string) Page {
	t.Helper()
	folder, err := top()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return Page{t, path, string(text)}
}

// Says checks that the page has the sentence, with the value of the constant of that name wherever it stands. The
// sentence is a few words around the number, with %s in its place; a line may end between any two words. The value is in
// the sentence's unit, such as timeout/time.Second.
func (p Page) Says(sentence, name string, value any) {
	p.t.Helper()
	if fault := p.check(sentence, name, amount(value)); fault != "" {
		p.t.Error(fault)
	}
}

// number matches a number of a page: 800, 9,500, 0.1, 2.5, .05.
const number = `(-?[0-9.][0-9.,]*[0-9]|[0-9])`

// check returns what is wrong, or "".
func (p Page) check(sentence, name string, want float64) string {
	pattern := regexp.QuoteMeta(strings.Join(strings.Fields(sentence), " "))
	pattern = strings.ReplaceAll(pattern, " ", `\s+`)
	if strings.Count(pattern, "%s") != 1 {
		return fmt.Sprintf("the sentence %q needs %%s once, in place of the number", sentence)
	}
	found := regexp.MustCompile(strings.Replace(pattern, "%s", number, 1)).FindAllStringSubmatch(p.text, -1)
	if len(found) == 0 {
		return fmt.Sprintf("%s does not say %q; %s is %v", p.path, sentence, name, want)
	}
	for _, m := range found {
		if got, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64); err != nil || got != want {
			return fmt.Sprintf("%s says %q, but %s is %v", p.path, m[0], name, want)
		}
	}
	return ""
}

// amount returns a value as a number, a time in nanoseconds.
func amount(value any) float64 {
	switch v := value.(type) {
	case time.Duration:
		return float64(v)
	case float64:
		return v
	case int:
		return float64(v)
	case int64:
		return float64(v)
	}
	panic(fmt.Sprintf("%T is no number", value))
}

// top returns the folder of the repository: the nearest one above the test's own with a go.mod.
func top() (string, error) {
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			err = errors.New("no folder above the test has a go.mod")
		}
		folder = above
	}
	return "", err
}
