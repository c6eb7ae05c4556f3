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

// Fact is a number that a page states.
type Fact struct {
	Page     string // path below the top of the repository
	Sentence string // words of the page around the number, with %s in its place; any white space stands for any other
	Name     string // of the constant, for the message
	Value    any    // of the constant, in the unit of the sentence: an integer, a fraction, or a time
	Unit     any    // what the value is divided by first, such as time.Second or 1<<20; nil: nothing
}

// Facts checks that each page has the sentence, with the value of the constant.
func Facts(t *testing.T, facts ...Fact) {
	t.Helper()
	folder, err := top()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range facts {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(f.Page)))
		if err != nil {
			t.Error(err)
			continue
		}
		if fault := f.check(string(text)); fault != "" {
			t.Error(fault)
		}
	}
}

// number matches a number of a page: 800, 9,500, 0.1, 2.5, .05.
const number = `(-?[0-9.][0-9.,]*[0-9]|[0-9])`

// check returns what is wrong, or "".
func (f Fact) check(page string) string {
	pattern := regexp.QuoteMeta(strings.Join(strings.Fields(f.Sentence), " "))
	pattern = strings.ReplaceAll(pattern, " ", `\s+`)
	if strings.Count(pattern, "%s") != 1 {
		return fmt.Sprintf("the sentence %q needs %%s once, in place of the number", f.Sentence)
	}
	found := regexp.MustCompile(strings.Replace(pattern, "%s", number, 1)).FindAllStringSubmatch(page, -1)
	want := amount(f.Value) / amount(f.Unit)
	if len(found) == 0 {
		return fmt.Sprintf("%s does not say %q; %s is %v", f.Page, f.Sentence, f.Name, want)
	}
	for _, m := range found {
		if got, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64); err != nil || got != want {
			return fmt.Sprintf("%s says %q, but %s is %v", f.Page, m[0], f.Name, want)
		}
	}
	return ""
}

// amount returns a value as a number; nothing counts as one.
func amount(value any) float64 {
	switch v := value.(type) {
	case nil:
		return 1
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
