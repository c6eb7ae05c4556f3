package tools

import "strings"

// Subject is what a call is about, whatever part of it and whatever question it
// asks: two calls with equal subjects ask for the same thing again.
type Subject struct {
	Path    string // read, grep: relative to the root
	Dir     string // bash, grep: where it works, relative to the root
	Command string // bash
	Pattern string // grep
	PruneID string // recover_text: the original, which is some earlier call's output

	// Part: only some of it was asked for, and what comes back is not the whole.
	Part bool
}

// Subjecter is a Call that can say what it is about.
type Subjecter interface{ Subject() Subject }

// Subject is the file, or the original of an earlier output.
func (c *readCall) Subject() Subject {
	if c.isOriginal() {
		return Subject{PruneID: c.given, Part: c.lines}
	}
	return Subject{Path: c.rel, Part: c.lines}
}

// Subject is the command line and where it runs.
func (c *bashCall) Subject() Subject { return Subject{Command: c.command, Dir: c.cwd} }

// Subject is the pattern and where it is looked for.
func (c *grepCall) Subject() Subject {
	paths := make([]string, len(c.search.Paths))
	for i, p := range c.search.Paths {
		paths[i] = p.Rel
	}
	return Subject{Pattern: c.search.Pattern, Path: strings.Join(paths, " "), Dir: c.cwd}
}
