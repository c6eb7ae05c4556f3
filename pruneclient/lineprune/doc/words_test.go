package doc

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIdentifiersFallIntoParts(t *testing.T) {
	for word, want := range map[string]string{"parseHTTPBody_v2": "parse HTTP Body v 2", "max_output_bytes": "max output bytes",
		"__init__": "init", "utf8": "utf 8", "X": "X", "HTTPServer": "HTTP Server", "_": "", "": "", "aB": "a B"} {
		var parts []string
		n := EachPart(word, func(p string) { parts = append(parts, p) })
		require.Equal(t, want, strings.Join(parts, " "), word)
		require.Len(t, parts, n)
	}
}

func TestStemsBringFormsTogether(t *testing.T) {
	for _, forms := range []string{"prune pruned prunes pruning pruner", "retry retries retried", "copy copied copies", "deny denied", "allocate allocation allocating",
		"connect connection connected", "match matches matching", "validate validation"} {
		want := ""
		for w := range strings.FieldsSeq(forms) {
			if want == "" {
				want = StemOf(w)
			}
			require.Equal(t, want, StemOf(w), w)
		}
	}
}
