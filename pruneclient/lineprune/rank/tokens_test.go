package rank

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/pruneclient/lineprune/doc"
	"github.com/mcp-pruner/mcp-pruner/tools/tokens"
)

// The scan for terms counts tokens in passing, by the rule of tokens.Line.
func TestTheScanCountsTokensByTheRule(t *testing.T) {
	text := "a_b1 c\n\nx += 1; // été 空指\n\t\v\x00 @[`{~\x1b[31mred\x1b[0m end\r\n  HTTPServer2 \xff\xfe."
	d := doc.New(text)
	_, err := Match(t.Context(), d, text, ParseQuestion("where is été read"))
	require.NoError(t, err)
	for i, line := range strings.Split(text, "\n") {
		assert.EqualValues(t, tokens.Line(line), d.Tokens[i], "%q", line)
	}
	assert.Equal(t, tokens.Lines(text), d.Total)
}
