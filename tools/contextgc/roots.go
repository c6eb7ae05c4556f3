package contextgc

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// recentDecision is the age up to which a decision is a root.
const recentDecision = time.Hour

// Descriptors say what the agent is working on. They determine the roots of a collection.
type Descriptors struct {
	CurrentFile string
	TaskID      string
}

// rootsOf returns the ids of the segments that a collection must keep: segments of the
// current file, messages of the current task, and decisions of the last hour. Without
// descriptors there are none.
func rootsOf(segments []Segment, d *Descriptors, now time.Time) []string {
	if d == nil {
		return nil
	}
	var roots []string
	for _, s := range segments {
		file := d.CurrentFile != "" && s.Path == d.CurrentFile
		message := d.TaskID != "" && s.Type == Message && s.Task == d.TaskID
		decision := s.Type == Decision && now.Sub(s.Touched) < recentDecision
		if file || message || decision {
			roots = append(roots, s.ID)
		}
	}
	return roots
}

// referenceTag is the prefix of a tag that refers to another segment.
const referenceTag = "ref:"

// references maps each segment's id to the ids it refers to: those named by its tags, and
// those of segments with the same topic.
func references(segments []Segment) map[string][]string {
	known := make(map[string]bool, len(segments))
	topics := make(map[string][]string)
	for _, s := range segments {
		known[s.ID] = true
		if s.Topic != "" {
			topics[s.Topic] = append(topics[s.Topic], s.ID)
		}
	}
	refs := make(map[string][]string)
	add := func(from, to string) {
		if !slices.Contains(refs[from], to) {
			refs[from] = append(refs[from], to)
		}
	}
	for _, s := range segments {
		for _, tag := range s.Tags {
			if to, ok := strings.CutPrefix(tag, referenceTag); ok && known[to] {
				add(s.ID, to)
			}
		}
		for _, to := range topics[s.Topic] {
			if to != s.ID {
				add(s.ID, to)
			}
		}
	}
	return refs
}

// reach returns, sorted, the roots and all segments to which they refer directly or
// indirectly.
func reach(roots []string, refs map[string][]string) []string {
	seen := make(map[string]bool)
	queue := slices.Clone(roots)
	for len(queue) > 0 {
		id := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !seen[id] {
			seen[id] = true
			queue = append(queue, refs[id]...)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
