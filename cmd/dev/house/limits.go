package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A size is a count that describes the product, such as its lines. It may only fall.
type size struct {
	name  string
	value int
}

// limitsFile has the limit of each size, relative to this folder.
const limitsFile = "limits.txt"

// sizes measures the product in a folder: the module without the development programs.
func sizes(folder string) (all []size, err error) {
	product, err := load(folder)
	if err != nil {
		return nil, err
	}
	files, err := tracked(folder)
	if err != nil {
		return nil, err
	}
	source, tests, inCmd, words := 0, 0, 0, 0
	for _, file := range files {
		isGo, isPage := strings.HasSuffix(file, ".go"), strings.HasPrefix(file, "docs/") && strings.HasSuffix(file, ".md")
		if !isGo && !isPage || strings.HasPrefix(file, "cmd/dev/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, file))
		if os.IsNotExist(err) { // removed, and not committed yet
			continue
		}
		if err != nil {
			return nil, err
		}
		lines := bytes.Count(text, []byte("\n"))
		switch {
		case isPage && !generated(text):
			words += len(bytes.Fields(text))
		case strings.HasSuffix(file, "_test.go"):
			tests += lines
		case isGo:
			source += lines
			if strings.HasPrefix(file, "cmd/") {
				inCmd += lines
			}
		}
	}
	surface, err := os.ReadFile(filepath.Join(folder, "testdata/surface.txt"))
	if err != nil {
		return nil, err
	}
	count := func(kind string) int { return bytes.Count(surface, []byte("\n"+kind+" ")) }
	return []size{
		{"lines of product", source}, {"lines of tests", tests}, {"packages", len(product)}, {"per mille of the product in cmd", 1000 * inCmd / max(source, 1)},
		{"exported names unused outside their package", len(unused(product))},
		{"verbs", count("verb")}, {"flags", count("flag")}, {"settings", count("setting")}, {"words of pages written by hand", words},
	}, nil
}

// tracked returns the files that git knows in a folder.
func tracked(folder string) ([]string, error) {
	out, err := exec.Command("git", "-C", folder, "ls-files").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", folder, err)
	}
	return strings.Fields(string(out)), nil
}

// madeBy matches how a page that a program writes says so in its first lines.
var madeBy = regexp.MustCompile("(?i)\\A(?:[^\n]*\n){0,5}?(?:Written|Made) by `")

func generated(page []byte) bool { return madeBy.Match(page) }

// A limit is the largest value that a size may have. reason names the decision record that allowed its last raise, or is "".
type limit struct {
	name   string
	size   int
	reason string
}

// readLimits reads lines of the form "name | size | decision".
func readLimits(text string) (all []limit, err error) {
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, "|")
		if len(parts) != 3 {
			return nil, fmt.Errorf("line %d: want name | size | decision: %s", n+1, line)
		}
		l := limit{name: strings.TrimSpace(parts[0]), reason: strings.TrimSpace(parts[2])}
		if l.size, err = strconv.Atoi(strings.TrimSpace(parts[1])); err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		all = append(all, l)
	}
	return all, nil
}

// printSizes prints each size beside its limit, and how long the test stages of the last run of .ci/run took.
func printSizes(folder string) error {
	all, err := sizes(folder)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(folder, "cmd/dev/house", limitsFile))
	if err != nil {
		return err
	}
	limits, err := readLimits(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", limitsFile, err)
	}
	largest := map[string]string{}
	for _, l := range limits {
		largest[l.name] = number(l.size)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nmay only fall\tnow\tlimit")
	for _, m := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\n", m.name, number(m.value), largest[m.name])
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if stages, err := os.ReadFile(filepath.Join(folder, ".cache/stages.txt")); err == nil {
		fmt.Printf("\nseconds of the stages of the last .ci/run here\n%s", stages)
	}
	return nil
}
