//go:build unix

package results

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/history"
)

var update = flag.Bool("update", false, "write what each door leaves into the files, and the table into the page")

const folder = "../../../testdata/results"

// whole stands in a file for the unchanged result.
const whole = "(whole)\n"

// TestResults passes every result through every door, and compares what is left with the files and the page.
func TestResults(t *testing.T) {
	u := newUpstream(t)
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			left := map[string]string{}
			for _, door := range doors {
				out := u.through(t, door, s)
				left[door] = s.section(door, out, left)
				s.check(t, door, out)
			}
			if *update {
				s.save(t, left)
			}
			for _, door := range doors {
				assert.Equal(t, s.golden(door), left[door], "%s: go -C cmd/dev test ./results -update", door)
			}
		})
	}
	comparePage(t)
}

// check fails where an output lacks what no golden file may lack.
func (s *Sample) check(t *testing.T, door, out string) {
	t.Helper()
	for _, want := range s.wants {
		assert.Contains(t, out, want, "%s lacks what was asked for", door)
	}
	if strings.HasPrefix(s.section(door, out, nil), whole) {
		return
	}
	for _, line := range s.frame(door) {
		assert.Contains(t, out, line, "%s lacks what the client itself wrote", door)
	}
	read := s.read(door, out)
	assert.NotEmpty(t, read.kept, "%s leaves nothing", door)
	assert.Empty(t, read.faults, door)
	assert.Empty(t, read.headless(s.headsAt(door)), door)
}

// section returns an output as the file has it: whole stands for the unchanged result, and an output that an earlier
// door has too is named by that door.
func (s *Sample) section(door, out string, left map[string]string) string {
	unchanged := s.at(door)
	if door == "hook" {
		unchanged = s.shown() // the client shows it in its own form
	}
	text := strings.TrimSuffix(out, "\n") + "\n"
	if door == "server" && s.call().Kind == history.Grep {
		out = withoutColumns(out)
	}
	if body, remarks := cutRemarks(out); strings.TrimRight(body, "\n") == strings.TrimRight(unchanged, "\n") {
		return whole + remarks
	}
	for _, d := range doors {
		if left[d] == text {
			return "(as " + d + ")\n"
		}
	}
	return text
}

// samples reads all files, and checks that each says what it shows and what has to stay.
func samples(t *testing.T) []*Sample {
	t.Helper()
	all, err := Read(folder)
	require.NoError(t, err)
	for _, s := range all {
		require.NotEmpty(t, s.about(), "%s: the comment says what the file shows", s.name)
		require.NotEmpty(t, s.wants, s.name)
		for _, want := range s.wants {
			require.Contains(t, s.text, want, s.name)
		}
	}
	return all
}

// save writes what the doors left into the file.
func (s *Sample) save(t *testing.T, left map[string]string) {
	t.Helper()
	files := make([]txtar.File, 0, len(s.archive.Files))
	for _, f := range s.archive.Files {
		if !slices.Contains(doors, f.Name) {
			files = append(files, f)
		}
	}
	for _, door := range doors {
		files = append(files, txtar.File{Name: door, Data: []byte(left[door])})
	}
	s.archive.Files = files
	require.NoError(t, os.WriteFile(s.file, txtar.Format(s.archive), 0o644))
}
