package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// benchCase is one case of the benchmark: a question about a text, and the lines that answer it.
type benchCase struct {
	ID         string         `json:"id"`
	Task       string         `json:"task"`
	SourceType lineprune.Kind `json:"source_type"`
	Repo       string         `json:"repo"`
	Question   string         `json:"question"`
	Text       string         `json:"text"`
	Gold       []int          `json:"gold"` // 1-based numbers of the lines that answer the question
	Meta       struct {
		Lang string `json:"lang"`
		Path string `json:"path"`
	} `json:"meta"`

	lines  []string
	tokens []int // per line
	total  int   // tokens of all lines
}

// load reads the cases of all .jsonl and .jsonl.gz files of a directory, in the order of the names.
func load(dir string) ([]benchCase, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl*"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	var cases []benchCase
	for _, name := range names {
		more, err := loadFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		cases = append(cases, more...)
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("no cases (*.jsonl, *.jsonl.gz) in %s", dir)
	}
	return cases, nil
}

func loadFile(name string) ([]benchCase, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	return decode(bufio.NewReader(r))
}

func decode(r io.Reader) ([]benchCase, error) {
	var cases []benchCase
	dec := json.NewDecoder(r)
	for {
		var c benchCase
		err := dec.Decode(&c)
		if errors.Is(err, io.EOF) {
			return cases, nil
		}
		if err != nil {
			return nil, err
		}
		c.measure()
		cases = append(cases, c)
	}
}

// measure splits the text into lines and counts their tokens with tokens.Line.
func (c *benchCase) measure() {
	c.lines = strings.Split(c.Text, "\n")
	c.tokens = make([]int, len(c.lines))
	c.total = 0
	for i, line := range c.lines {
		c.tokens[i] = tokens.Line(line)
		c.total += c.tokens[i]
	}
}
