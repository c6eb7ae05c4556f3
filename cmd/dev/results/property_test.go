//go:build unix

package results

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

// mutations is the number of texts per run. Each goes through every door.
const mutations = 60

// TestAnyResult passes texts made from the files' lines through every door, with the questions of other files: at
// least one line stays, every kept line stands in its place with its true number, every gap is counted, and a heading
// stays with its rows.
func TestAnyResult(t *testing.T) {
	all := samples(t)
	u := newUpstream(t)
	random := rand.New(rand.NewPCG(29, 1))
	for range mutations {
		s := mutated(random, all)
		for _, door := range doors {
			if door == "server" && s.call().Kind == history.Grep && !findable(s.text) {
				continue // no files have these lines
			}
			out := u.through(t, door, s)
			if strings.HasPrefix(s.section(door, out, nil), whole) {
				continue
			}
			read := s.read(door, out)
			if !assert.NotEmpty(t, read.kept, "%s leaves nothing", door) || !assert.Empty(t, read.faults, door) ||
				!assert.Empty(t, read.headless(s.headsAt(door)), door) {
				t.Logf("%s with the question %q, %s:\n%s\nbecame\n%s", s.name, s.question, door, s.text, out)
				return
			}
		}
	}
}

// mutated returns a result of which some lines are gone, moved or doubled, and a question of any file.
func mutated(random *rand.Rand, all []*Sample) *Sample {
	s := *all[random.IntN(len(all))]
	lines := strings.SplitAfter(s.text, "\n")
	switch from := random.IntN(len(lines)); random.IntN(6) {
	case 0: // the end
		lines = lines[from:]
	case 1: // the beginning
		lines = lines[:from+1]
	case 2: // one line, many times
		lines = slices.Concat(lines[:from], slices.Repeat(lines[from:from+1], 20), lines[from:])
	case 3: // another result after this one
		lines = append(lines, strings.SplitAfter(all[random.IntN(len(all))].text, "\n")...)
		s.heads = nil // the other's rows would stand below this one's headings
	case 4: // lines without order
		random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		s.heads = nil
	case 5: // one long line
		lines = []string{strings.Join(strings.Fields(s.text), " ")}
		s.heads = nil
	}
	s.text = strings.TrimRight(strings.Join(lines, ""), "\n") + "\n"
	other := all[random.IntN(len(all))]
	s.words, s.question = other.words, other.question
	return &s
}

// findable reports whether a search in files could have found a text: it has matches, and no lines of context, which
// would stand alone.
func findable(text string) bool {
	all := matches(text)
	return len(all) > 0 && !slices.ContainsFunc(all, func(m match) bool { return m.mark != ":" })
}
