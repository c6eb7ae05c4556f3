package contextgc

import (
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

// topicNode is the beginning of a node to which the segments of a topic refer, and which refers to them: a reference for
// each pair of segments would be too many. No id can begin like this.
const topicNode = "\x00topic:"

// references maps each segment's id to what it refers to: the ids named by its tags, and the node of its topic.
func references(segments []Segment) map[string][]string {
	known := make(map[string]bool, len(segments))
	for _, s := range segments {
		known[s.ID] = true
	}
	refs := make(map[string][]string)
	for _, s := range segments {
		for _, tag := range s.Tags {
			if to, ok := strings.CutPrefix(tag, referenceTag); ok && known[to] {
				refs[s.ID] = append(refs[s.ID], to)
			}
		}
		if node := topicNode + s.Topic; s.Topic != "" {
			refs[s.ID], refs[node] = append(refs[s.ID], node), append(refs[node], s.ID)
		}
	}
	return refs
}

// reach returns the roots and everything to which they refer directly or indirectly.
func reach(roots []string, refs map[string][]string) map[string]bool {
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
	return seen
}
