package tools

import (
	"encoding/json"
	"strings"
)

// Subject identifies the topic of a call, regardless of its focus question: two calls of a tool
// with equal subjects ask for the same thing.
type Subject struct {
	Path    string // read, grep: relative to the root
	Dir     string // bash, grep: working directory, relative to the root
	Command string // bash
	Pattern string // grep
	PruneID string // id of the original asked for, which is an earlier call's output
	Options string // everything else that affects the output: environment, flags of a search

	First, Last int // range of lines asked for; 0: from the start, to the end

	// Part says that the call asks for a part only, so its output is not the whole.
	Part bool
}

// Whole returns the subject without its range of lines.
func (s Subject) Whole() Subject {
	s.First, s.Last, s.Part = 0, 0, false
	return s
}

// Subjecter is a Call that can name its subject.
type Subjecter interface{ Subject() Subject }

// Subject returns the file, or the original of an earlier output.
func (c *readCall) Subject() Subject {
	s := Subject{Path: c.rel, First: c.first, Last: c.last, Part: c.lines}
	if c.base.isOriginal(c.given) {
		s.Path, s.PruneID = "", c.given
	}
	return s
}

// Subject returns the command line, its directory and its variables.
func (c *bashCall) Subject() Subject {
	return Subject{Command: c.command, Dir: c.cwd, Options: options(len(c.env) > 0, c.env)}
}

// Subject returns the search, without its limits on the output.
func (c *grepCall) Subject() Subject {
	s := c.search
	paths := make([]string, len(s.Paths))
	for i, p := range s.Paths {
		paths[i] = p.Rel
	}
	about := Subject{
		Pattern: s.Pattern, Path: strings.Join(paths, " "), Dir: c.cwd,
		Options: options(true, []any{s.Glob, s.Mode, s.Fixed, s.IgnoreCase}),
	}
	if len(s.Paths) == 1 && c.base.isOriginal(s.Paths[0].Show) {
		about.Path, about.PruneID, about.Part = "", s.Paths[0].Show, true
	}
	return about
}

// options encodes values so that equal values give equal texts.
func options(given bool, values any) string {
	if !given {
		return ""
	}
	text, _ := json.Marshal(values) // strings and booleans always encode
	return string(text)
}
