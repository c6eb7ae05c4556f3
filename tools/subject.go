package tools

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"
)

// Subject is what a call is about, whatever question it asks: two calls of a tool with
// equal subjects ask for the same thing again.
type Subject struct {
	Path    string // read, grep: relative to the root
	Dir     string // bash, grep: where it works, relative to the root
	Command string // bash
	Pattern string // grep
	PruneID string // the original asked for, which is some earlier call's output
	Options string // what else changes the output: environment, flags of a search

	First, Last int // the lines asked for; 0: from the start, to the end

	// Part: only some of it was asked for, and what comes back is not the whole.
	Part bool
}

// Whole is the subject without the range that was asked for.
func (s Subject) Whole() Subject {
	s.First, s.Last, s.Part = 0, 0, false
	return s
}

// Again says whether a call of the same tool asks for something that an earlier one asked
// for, too: the same thing, and lines that overlap. A zero subject never does.
func (s Subject) Again(earlier Subject) bool {
	return s.Whole() != (Subject{}) && s.Whole() == earlier.Whole() &&
		s.First <= cmp.Or(earlier.Last, math.MaxInt) && earlier.First <= cmp.Or(s.Last, math.MaxInt)
}

// Subjecter is a Call that can say what it is about.
type Subjecter interface{ Subject() Subject }

// Subject is the file, or the original of an earlier output.
func (c *readCall) Subject() Subject {
	s := Subject{Path: c.rel, First: c.first, Last: c.last, Part: c.lines}
	if c.isOriginal() {
		s.Path, s.PruneID = "", c.given
	}
	return s
}

// Subject is the command line, where it runs and with which variables.
func (c *bashCall) Subject() Subject {
	return Subject{Command: c.command, Dir: c.cwd, Options: options(len(c.env) > 0, c.env)}
}

// Subject is the search, however many matches are wanted.
func (c *grepCall) Subject() Subject {
	s := c.search
	paths := make([]string, len(s.Paths))
	for i, p := range s.Paths {
		paths[i] = p.Rel
	}
	return Subject{
		Pattern: s.Pattern, Path: strings.Join(paths, " "), Dir: c.cwd,
		Options: options(true, []any{s.Glob, s.Mode, s.Fixed, s.IgnoreCase}),
	}
}

// options spells values so that equal ones are equal texts.
func options(given bool, values any) string {
	if !given {
		return ""
	}
	text, _ := json.Marshal(values) // texts and truth values always encode
	return string(text)
}
