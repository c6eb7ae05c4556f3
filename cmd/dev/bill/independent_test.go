package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// This file bills recorded sessions once more, and shares nothing with replay: it reads the lines itself, and knows the prices as
// they stand on the vendors' pages. What replay prints of a set must agree within 1 %.

// spent is a line of the fixtures, as far as a bill needs it.
type spent struct {
	Model string `json:"model"`
	Steps []struct {
		Kind  string         `json:"k"`
		Text  string         `json:"text"`
		Think string         `json:"think"`
		Args  map[string]any `json:"args"`
		Model string         `json:"model"`
		Usage struct {
			Input   float64 `json:"input_tokens"`
			Written float64 `json:"cache_creation_input_tokens"`
			Read    float64 `json:"cache_read_input_tokens"`
			Output  float64 `json:"output_tokens"`
			Created struct {
				Hour float64 `json:"ephemeral_1h_input_tokens"`
			} `json:"cache_creation"`
		} `json:"usage"`
	} `json:"steps"`
}

// said returns how many tokens the texts and calls after a step have: the answer, where the transcript has a placeholder for it.
func (s spent) said(after int) (n float64) {
	for _, step := range s.Steps[after+1:] {
		switch step.Kind {
		case "call":
			return n / 2.85
		case "say":
			n += float64(len(step.Text) + len(step.Think))
		case "use":
			for name, value := range step.Args {
				text, _ := value.(string)
				n += float64(len(name) + len(text) + 8)
			}
		}
	}
	return n / 2.85
}

// bill is the price of a session in fresh input tokens. Of a Claude of before 5.5 a read costs a tenth, a write a quarter more than
// fresh input, or twice for an hour, and output five times; of OpenAI and Google a write costs nothing more, and output six times.
func (s spent) bill() (total float64) {
	for i, step := range s.Steps {
		u, model := step.Usage, step.Model
		if model == "" {
			model = s.Model
		}
		write, output := 1.25*(u.Written-u.Created.Hour)+2*u.Created.Hour, 5.0
		if strings.Contains(model, "gpt") || strings.Contains(model, "gemini") {
			write, output = u.Written, 6
		}
		if texts := s.said(i); step.Kind == "call" && u.Output < texts/2 {
			u.Output = texts
		}
		total += u.Input + write + u.Read/10 + output*u.Output
	}
	return total
}

// billed returns the bill of a set.
func billed(t *testing.T, path string) (total float64) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var s spent
		require.NoError(t, json.Unmarshal(lines.Bytes(), &s))
		total += s.bill()
	}
	require.NoError(t, lines.Err())
	return total
}

func TestAnIndependentBillAgrees(t *testing.T) {
	for _, set := range []string{"claude-code-3", "claude-code-2", "claude-code"} {
		path := filepath.Join("../../../../shared/fixtures/sessions", set+".jsonl.gz")
		if _, err := os.Stat(path); err != nil {
			t.Skip("no fixtures")
		}
		r, _, err := replay.Replay(t.Context(), replay.Settings{Files: []string{path}, Policies: []replay.Policy{replay.GC}})
		require.NoError(t, err)
		assert.InEpsilon(t, billed(t, path), r.Bill, .01, set)
		assert.Less(t, r.Composition["unknown"].Sum(), 15.0, set)
		gc, _ := r.Of(replay.GC)
		assert.Less(t, gc.Gross, 100.0, set)
	}
}
