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
	if fault := p.fault(sentence, name, amount(value)); fault != "" {
		p.t.Error(fault)
	}
}

// number matches a number of a page: 800, 9,500, 0.1, 2.5, .05, three.
const number = `(-?[0-9.][0-9.,]*[0-9]|[0-9]|half|quarter|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)`

var words = map[string]float64{"half": .5, "quarter": .25, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12}

// parse returns the value of what number matched.
func parse(s string) (float64, error) {
	if n, ok := words[s]; ok {
		return n, nil
	}
	return strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
}

// fault returns the fault of the sentence, or "".
func (p Page) fault(sentence, name string, want float64) string {
	pattern := flexible(sentence)
	if strings.Count(pattern, "%s") != 1 {
		return fmt.Sprintf("the sentence %q needs %%s once, in place of the number", sentence)
	}
	found := regexp.MustCompile(strings.Replace(pattern, "%s", number, 1)).FindAllStringSubmatch(p.text, -1)
	if len(found) == 0 {
		return fmt.Sprintf("%s does not say %q; %s is %v", p.path, sentence, name, want)
	}
	for _, m := range found {
		if got, err := parse(m[1]); err != nil || got != want {
			return fmt.Sprintf("%s says %q, but %s is %v", p.path, m[0], name, want)
		}
	}
	return ""
}

// flexible returns the pattern of a text in which a line may end between any two words.
func flexible(text string) string {
	return strings.ReplaceAll(regexp.QuoteMeta(strings.Join(strings.Fields(text), " ")), " ", `\s+`)
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

// top returns the folder of the repository: the nearest one above the test's own with a README.md and a go.mod. The
// module of the development programs, cmd/dev, has no README.md.
func top() (string, error) {
	folder, err := os.Getwd()
	for err == nil {
		_, noModule := os.Stat(filepath.Join(folder, "go.mod"))
		_, noReadme := os.Stat(filepath.Join(folder, "README.md"))
		if noModule == nil && noReadme == nil {
			return folder, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			err = errors.New("no folder above the test has a go.mod and a README.md")
		}
		folder = above
	}
	return "", err
}
