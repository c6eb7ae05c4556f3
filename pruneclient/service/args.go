package service

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mcp-pruner/pruneclient/lineprune"
	"mcp-pruner/pruneclient/recovery"
)

// PruneArgs are prune_text's arguments.
type PruneArgs struct {
	Text    string
	Goal    string
	Kind    lineprune.Kind
	Options PruneOptions
}

// PruneOptions bound and shape the answer.
type PruneOptions struct {
	MaxPruneRatio float64
	MinKeepLines  int
	Timeout       time.Duration
	Numbers       bool // annotate_lines
	Markers       bool // include_markers
}

// RecoverArgs are recover_text's arguments.
type RecoverArgs struct {
	PruneID string
	Ranges  []recovery.Range
	Numbers bool
	Pattern *regexp.Regexp // nil: the ranges themselves
}

// Issue is one violation in a call's arguments. Code is one of zod v3's issue
// codes; Path is dot-joined and relative to the arguments ("" is the object).
type Issue struct{ Path, Code string }

// maxPatternChars bounds what is compiled; RE2 matches in linear time whatever it is.
const maxPatternChars = 1000

// ParsePrune reads prune_text's arguments and returns every violation, sorted.
func ParsePrune(args map[string]any) (PruneArgs, []Issue) {
	c := &checker{}
	c.closed("", args, "text", "goal_hint", "source_type", "options")
	a := PruneArgs{
		Text: c.text("text", args["text"]),
		Goal: c.text("goal_hint", args["goal_hint"]),
		Kind: lineprune.Kind(c.oneOf("source_type", args["source_type"], "code", "logs", "docs")),
	}
	if o := c.object("options", args["options"]); o != nil {
		c.closed("options", o, "max_prune_ratio", "min_keep_lines", "timeout_ms", "annotate_lines", "include_markers")
		a.Options = PruneOptions{
			MaxPruneRatio: c.number("options.max_prune_ratio", o["max_prune_ratio"], 0, 1),
			MinKeepLines:  c.integer("options.min_keep_lines", o["min_keep_lines"], 0),
			Timeout:       milliseconds(c.integer("options.timeout_ms", o["timeout_ms"], 1)),
			Numbers:       c.boolean("options.annotate_lines", o["annotate_lines"]),
			Markers:       c.boolean("options.include_markers", o["include_markers"]),
		}
	}
	return a, c.sorted()
}

// ParseRecover reads recover_text's arguments and returns every violation,
// sorted. Ranges that make no sense in a text are not violations: they have an
// error of their own.
func ParseRecover(args map[string]any) (RecoverArgs, []Issue) {
	c := &checker{}
	c.closed("", args, "prune_id", "ranges", "include_line_numbers", "pattern", "regex")
	a := RecoverArgs{
		PruneID: c.text("prune_id", args["prune_id"]),
		Ranges:  c.ranges("ranges", args["ranges"]),
		Numbers: c.boolean("include_line_numbers", args["include_line_numbers"]),
	}
	regex := false
	if value, given := args["regex"]; given {
		regex = c.boolean("regex", value)
	}
	if value, given := args["pattern"]; given {
		a.Pattern = c.pattern("pattern", value, regex)
	}
	return a, c.sorted()
}

// ParseHealth refuses whatever is given: health has no arguments.
func ParseHealth(args map[string]any) []Issue {
	c := &checker{}
	c.closed("", args)
	return c.issues
}

func milliseconds(n int) time.Duration {
	return time.Duration(min(n, int(maxTimeout/time.Millisecond))) * time.Millisecond
}

// checker reads values and collects what is wrong with them.
type checker struct{ issues []Issue }

func (c *checker) add(path, code string) { c.issues = append(c.issues, Issue{path, code}) }

func (c *checker) sorted() []Issue {
	sort.SliceStable(c.issues, func(i, j int) bool {
		a, b := c.issues[i], c.issues[j]
		return a.Path < b.Path || a.Path == b.Path && a.Code < b.Code
	})
	return c.issues
}

func (c *checker) closed(path string, o map[string]any, known ...string) {
	found := 0
	for _, name := range known {
		if _, ok := o[name]; ok {
			found++
		}
	}
	if found != len(o) {
		c.add(path, "unrecognized_keys")
	}
}

func (c *checker) object(path string, v any) map[string]any {
	o, ok := v.(map[string]any)
	if !ok {
		c.add(path, "invalid_type")
	}
	return o
}

func (c *checker) text(path string, v any) string {
	s, ok := v.(string)
	if !ok {
		c.add(path, "invalid_type")
	}
	return s
}

func (c *checker) oneOf(path string, v any, allowed ...string) string {
	s, ok := v.(string)
	if !ok {
		c.add(path, "invalid_type")
		return ""
	}
	for _, a := range allowed {
		if s == a {
			return s
		}
	}
	c.add(path, "invalid_enum_value")
	return ""
}

func (c *checker) boolean(path string, v any) bool {
	b, ok := v.(bool)
	if !ok {
		c.add(path, "invalid_type")
	}
	return b
}

func (c *checker) number(path string, v any, least, most float64) float64 {
	f, ok := float(v)
	switch {
	case !ok:
		c.add(path, "invalid_type")
	case f < least:
		c.add(path, "too_small")
	case f > most:
		c.add(path, "too_big")
	}
	return f
}

func (c *checker) integer(path string, v any, least int) int {
	n, ok := integer(v)
	switch {
	case !ok:
		c.add(path, "invalid_type")
	case n < least:
		c.add(path, "too_small")
	}
	return n
}

func (c *checker) ranges(path string, v any) []recovery.Range {
	list, ok := v.([]any)
	if !ok {
		c.add(path, "invalid_type")
		return nil
	}
	ranges := make([]recovery.Range, 0, len(list))
	for i, item := range list {
		at := path + "." + strconv.Itoa(i)
		o := c.object(at, item)
		if o == nil {
			continue
		}
		c.closed(at, o, "start_line", "end_line")
		ranges = append(ranges, recovery.Range{
			Start: c.integer(at+".start_line", o["start_line"], math.MinInt),
			End:   c.integer(at+".end_line", o["end_line"], math.MinInt),
		})
	}
	return ranges
}

func (c *checker) pattern(path string, v any, regex bool) *regexp.Regexp {
	s := c.text(path, v)
	switch n := utf8.RuneCountInString(s); {
	case n == 0:
		if _, ok := v.(string); ok {
			c.add(path, "too_small")
		}
		return nil
	case n > maxPatternChars:
		c.add(path, "too_big")
		return nil
	}
	if !regex {
		s = regexp.QuoteMeta(s)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		c.add(path, "custom")
	}
	return re
}

// float reads a JSON number, decoded either way. Finite ones only: there are no
// others in JSON.
func float(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, !math.IsNaN(n)
	case json.Number:
		f, err := strconv.ParseFloat(n.String(), 64)
		// Out of range it is still a number, and too big for any limit here.
		return f, err == nil || math.IsInf(f, 0)
	}
	return 0, false
}

// integer reads a JSON number without a fraction: 2, 2.0 and 2e0 alike. What does
// not fit an int becomes the nearest one that does.
func integer(v any) (int, bool) {
	if n, ok := v.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
		i, err := strconv.ParseInt(n.String(), 10, strconv.IntSize)
		return int(i), err == nil || errors.Is(err, strconv.ErrRange)
	}
	f, ok := float(v)
	if !ok || f != math.Trunc(f) {
		return 0, false
	}
	switch {
	case f >= math.MaxInt:
		return math.MaxInt, true
	case f <= math.MinInt:
		return math.MinInt, true
	}
	return int(f), true
}

// maxTimeout caps timeout_ms, which the schema leaves open, where a Duration
// would overflow.
const maxTimeout = 24 * time.Hour
