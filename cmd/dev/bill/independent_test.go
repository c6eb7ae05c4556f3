package main

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/states/replay"
)

// This file bills recorded sessions once more, and shares nothing with replay: it reads the lines itself, and knows the prices as
// they stand on the vendors' pages. What replay prints of a set must agree within 1 %.

// request is one call of a model: the tokens that were counted, by price, and the tokens of its texts.
type request struct {
	model                            string
	fresh, short, hour, read, output float64
	texts                            float64 // characters
}

// cost is the price of a request in fresh input tokens of its model. Of a Claude of before 5.5 a read costs a tenth, a write a quarter more
// than fresh input, or twice for an hour, and output five times. Of OpenAI's before gpt-6 and of Google's a write costs nothing more; output
// costs eight times up to gpt-5.3, and six times after it and at Google. Long prompts cost twice, and their output one and a half times.
func (r request) cost() float64 {
	write, hour, output, long := 1.25, 2.0, 5.0, 0.0
	texts := r.texts / 2.85
	if m := regexp.MustCompile(`gpt-(\d)\.?(\d*)|gemini`).FindStringSubmatch(r.model); m != nil {
		write, hour, output, long = 1, 1, 6, 200_000
		texts = r.texts / 4 // as their pages say
		if m[1] != "" {
			long = 272_000
		}
		if minor, _ := strconv.Atoi(m[2]); m[1] == "5" && minor < 4 {
			output = 8
		}
	}
	if r.output < texts/2 {
		r.output = texts // a placeholder, written when the answer began, or without the thinking
	}
	input := r.fresh + write*r.short + hour*r.hour + r.read/10
	if long > 0 && r.fresh+r.short+r.hour+r.read > long {
		input, output = 2*input, 1.5*output
	}
	return input + output*r.output
}

// collected returns the requests of a line of a collection.
func collected(t *testing.T, line []byte) (all []request) {
	var s struct {
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
	require.NoError(t, json.Unmarshal(line, &s))
	for _, step := range s.Steps {
		switch u := step.Usage; {
		case step.Kind == "call":
			if step.Model == "" {
				step.Model = s.Model
			}
			all = append(all, request{step.Model, u.Input, u.Written - u.Created.Hour, u.Created.Hour, u.Read, u.Output, 0})
		case len(all) == 0:
		case step.Kind == "say":
			all[len(all)-1].texts += float64(len(step.Text) + len(step.Think))
		case step.Kind == "use":
			for name, value := range step.Args {
				text, _ := value.(string)
				all[len(all)-1].texts += float64(len(name) + len(text) + 8)
			}
		}
	}
	return all
}

// rollout returns the requests of a transcript of Codex, which repeats a count where a limit has changed.
func rollout(t *testing.T, transcript io.Reader) (all []request) {
	model, latest := "", ""
	lines := bufio.NewScanner(transcript)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		var line struct {
			Payload struct {
				Type  string `json:"type"`
				Model string `json:"model"`
				Info  struct {
					Total json.RawMessage `json:"total_token_usage"`
					Last  struct {
						Input  float64 `json:"input_tokens"`
						Cached float64 `json:"cached_input_tokens"`
						Output float64 `json:"output_tokens"`
					} `json:"last_token_usage"`
				} `json:"info"`
			} `json:"payload"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		p := line.Payload
		if p.Model != "" {
			model = p.Model
		}
		if last := p.Info.Last; p.Type == "token_count" && string(p.Info.Total) != latest {
			latest = string(p.Info.Total)
			all = append(all, request{model: model, fresh: last.Input - last.Cached, read: last.Cached, output: last.Output})
		}
	}
	require.NoError(t, lines.Err())
	return all
}

// billed returns the bill of a set.
func billed(t *testing.T, path string) (total float64) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	var all []request
	if archive := tar.NewReader(z); strings.HasSuffix(path, ".tar.gz") {
		for {
			entry, err := archive.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			if entry.Typeflag == tar.TypeReg {
				all = append(all, rollout(t, archive)...)
			}
		}
	} else {
		lines := bufio.NewScanner(z)
		lines.Buffer(nil, 1<<30)
		for lines.Scan() {
			all = append(all, collected(t, lines.Bytes())...)
		}
		require.NoError(t, lines.Err())
	}
	for _, r := range all {
		total += r.cost()
	}
	return total
}

func TestAnIndependentBillAgrees(t *testing.T) {
	dir := "../../../../shared/fixtures/sessions"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no fixtures")
	}
	f := fixtures{dir: dir, opened: t.TempDir()}
	for _, name := range []string{
		"claude-code-3.jsonl.gz", "codex-2.tar.gz", "codex-3.tar.gz", "opencode-2.jsonl.gz", "claude-code-2.jsonl.gz", "claude-code.jsonl.gz",
	} {
		set, _, _ := strings.Cut(name, ".")
		s, err := f.settings(named(strings.Replace(set, "claude-code-2", "cipher-box", 1)), replay.Experiment{}, replay.GC)
		require.NoError(t, err)
		s.Only = nil
		r, _, err := replay.Replay(t.Context(), s)
		require.NoError(t, err)
		ours := billed(t, filepath.Join(dir, name))
		t.Logf("%s: %.0f by replay, %.0f here (%+.2f %%); unknown %.1f %%; %d refused",
			set, r.Bill, ours, 100*(ours/r.Bill-1), r.Composition["unknown"].Sum(), len(r.Refused))
		assert.InEpsilon(t, ours, r.Bill, .01, set)
		assert.Less(t, r.Composition["unknown"].Sum(), 15.0, set)
		gc, _ := r.Of(replay.GC)
		assert.Less(t, gc.Gross, 100.0, set)
	}
}
