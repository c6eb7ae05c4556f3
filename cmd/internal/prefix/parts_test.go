package prefix

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/tools/agent"
)

var update = flag.Bool("update", false, "write testdata/*.txt")

// TestParts splits small requests in the form of each client and compares the parts with testdata/CLIENT.txt.
func TestParts(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini"} {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile("testdata/" + name + ".json")
			require.NoError(t, err)
			request, err := RecordedRequest(body)
			require.NoError(t, err)
			p, err := PartsOf(agent.Named(name), request, []string{"notes"}, "PROMPT")
			require.NoError(t, err)
			var b strings.Builder
			sum := 0
			for _, part := range p.Parts {
				sum += part.Tokens
				fmt.Fprintf(&b, "%-7s %-36s %-6s %4d", part.Kind, part.Name, part.Server, part.Tokens)
				for _, s := range part.Sections {
					fmt.Fprintf(&b, "  # %s %d", s.Name, s.Tokens)
				}
				b.WriteByte('\n')
			}
			require.InDelta(t, p.Tokens, sum, 0.15*float64(p.Tokens), "texts of few tokens lose some where they are cut")
			if *update {
				require.NoError(t, os.WriteFile("testdata/"+name+".txt", []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile("testdata/" + name + ".txt")
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
		})
	}
}

func TestNoRequest(t *testing.T) {
	for _, text := range []string{"", "[]", "{}", `{"model":"x"}`, "no JSON"} {
		_, err := RecordedRequest([]byte(text))
		require.ErrorIs(t, err, errNoRequest, text)
	}
	_, err := PartsOf(&agent.Claude, Request{API: "anthropic-messages", Body: []byte("{")}, nil, "")
	require.Error(t, err)
}

// FuzzOf: nothing that a file may say makes the splitting fail otherwise than by an error.
func FuzzParts(f *testing.F) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini"} {
		body, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(f, err)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		request, err := RecordedRequest(body)
		if err != nil {
			return
		}
		for _, c := range []*agent.Client{&agent.Claude, &agent.Codex, &agent.Opencode, &agent.Gemini} {
			_, _ = PartsOf(c, request, []string{"notes", ""}, "PROMPT")
		}
	})
}
