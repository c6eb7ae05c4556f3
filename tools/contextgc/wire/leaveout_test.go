package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Any of the blocks of thinking in an answer can be left out: the rest is what it was, with one comma between blocks, also where the
// client writes spaces around them. Thinking that is a whole answer stays.
func TestThinkingIsLeftOut(t *testing.T) {
	for _, kinds := range []string{"tx", "xt", "ttx", "xtt", "txt", "xtx", "ttxtt", "xttx", "t", "tt"} {
		for _, space := range []string{"", " \n\t"} {
			var blocks []string
			for i, kind := range kinds {
				block := fmt.Sprintf(`{"type":"text","text":"block %d"}`, i)
				if kind == 't' {
					block = fmt.Sprintf(`{"type":"thinking","thinking":"a, b","signature":"s%d"}`, i)
				}
				blocks = append(blocks, block)
			}
			request := func(blocks []string, space string) string {
				return `{"model":"claude-opus-5-5","messages":[{"role":"user","content":"go"},{"role":"assistant","content":[` + space +
					strings.Join(blocks, space+","+space) + space + `]},{"role":"user","content":"on"}]}`
			}
			thoughts := strings.Count(kinds, "t")
			for which := range 1 << thoughts {
				c, err := APIOf("/v1/messages").Parse([]byte(request(blocks, space)))
				require.NoError(t, err)
				require.Len(t, c.Results, thoughts)
				var texts, left []string
				for i, kind := range kinds {
					out := kind == 't' && which>>len(texts)&1 == 1
					if kind == 't' {
						texts = append(texts, map[bool]string{true: "out"}[out])
					}
					if !out || !strings.Contains(kinds, "x") {
						left = append(left, blocks[i])
					}
				}
				got := string(c.Replace(texts).Body)
				require.True(t, json.Valid([]byte(got)), "%s, %b: %s", kinds, which, got)
				assert.JSONEq(t, request(left, ""), got, "%s, %b", kinds, which)
			}
		}
	}
}
