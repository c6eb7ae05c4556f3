//go:build unix

package results

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostWrong is the number of calls on a failing log that may lack the name, the reason or the place of a failure.
const mostWrong = 2

// warnings is the number of compiler warnings that are mixed into a log.
const warnings = 30

var failureQuestions = []string{"which test failed and why", "what is the error", "why does the build fail"}

// failureDoors are the doors of the logs. This program's server is asked by its bash and by its read.
var failureDoors = []string{"hook", "bash", "read", "proxy", "prune"}

// logForms are the forms in which a runner's log comes.
var logForms = []struct {
	name string
	of   func(s *Sample) string
}{
	{"plain", func(s *Sample) string { return s.text }},
	{"warnings", func(s *Sample) string { return s.warned(s.text) }},
	{"times", func(s *Sample) string { return stamped(s.text) }},
	{"both", func(s *Sample) string { return stamped(s.warned(s.text)) }},
}

// TestFailures passes ten runners' failing logs, with and without warnings and time stamps, through every door with every
// question: the name of each failing test, the reason and the first place in the user's code stay. What the verb prune leaves of
// the last form for the last question stands in the file, to be read.
func TestFailures(t *testing.T) {
	all, err := Read("../../../testdata/failures")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 10)
	u := newUpstream(t)
	var wrong []string
	calls := 0
	for _, s := range all {
		for _, form := range logForms {
			for i, question := range failureQuestions {
				for _, door := range failureDoors {
					if i > 0 && (door == "hook" || door == "proxy") {
						continue // they take the agent's words for the question
					}
					asked := s.asked(form.of(s), question, door)
					out := u.through(t, doorOf(door), asked)
					calls++
					if lacks := asked.lacks(out); len(lacks) > 0 {
						wrong = append(wrong, fmt.Sprintf("%s, %s, %s, %s: %q", s.name, form.name, door, question, lacks))
					}
					if door == "prune" && form.name == "both" && i == len(failureQuestions)-1 {
						s.compareLeft(t, out)
					}
				}
			}
		}
	}
	t.Logf("%d of %d calls are wrong\n%s", len(wrong), calls, strings.Join(wrong, "\n"))
	assert.LessOrEqual(t, len(wrong), mostWrong, strings.Join(wrong, "\n"))
	assert.GreaterOrEqual(t, calls, 180)
}

func doorOf(door string) string {
	if door == "bash" || door == "read" {
		return "server"
	}
	return door
}

// asked returns the sample with another text and question. To the door read it is a file.
func (s *Sample) asked(text, question, door string) *Sample {
	a := *s
	a.text, a.words, a.question = text, question, question
	if door == "read" {
		a.tool, a.args = "Read", map[string]any{"file_path": "/shop/ci.log"}
	}
	return &a
}

// lacks returns the texts that an output should have and has not.
func (s *Sample) lacks(out string) []string {
	return slices.DeleteFunc(slices.Clone(s.wants), func(want string) bool { return strings.Contains(out, want) })
}

// warned returns a text with warnings: a third before it, a third among its lines and a third after it.
func (s *Sample) warned(text string) string {
	var before, after strings.Builder
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	const third = warnings / 3
	step := max(len(lines)/(third+1), 1)
	for n := range third {
		before.WriteString(s.numbered(n))
		lines[(n+1)*step-1] += s.numbered(third + n)
		after.WriteString(s.numbered(2*third + n))
	}
	return before.String() + strings.Join(lines, "") + after.String()
}

func (s *Sample) numbered(n int) string {
	return strings.ReplaceAll(s.warning, "{n}", strconv.Itoa(n))
}

// stamped returns a text with the times that GitHub puts before each line.
func stamped(text string) string {
	var b strings.Builder
	for i, line := range strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n") {
		fmt.Fprintf(&b, "2026-11-01T12:%02d:%02d.1234567Z %s", i/60%60, i%60, line)
	}
	return b.String() + "\n"
}

// compareLeft compares what was left with the file, or writes it there.
func (s *Sample) compareLeft(t *testing.T, out string) {
	t.Helper()
	if *update {
		files := slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == "left" })
		s.archive.Files = append(files, txtar.File{Name: "left", Data: []byte(out)})
		require.NoError(t, os.WriteFile(s.file, txtar.Format(s.archive), 0o644))
		return
	}
	assert.Equal(t, s.golden("left"), out, "%s: go -C cmd/dev test ./results -run TestFailures -update", s.name)
}
