package wire

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMarksStayWhatLedgersHold checks a mark against its definition: ledgers hold marks of earlier versions. It also bounds what
// is allocated for them with every request: no hash, no length of a part.
func TestMarksStayWhatLedgersHold(t *testing.T) {
	const turns = 50
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"hello"}`)
	for n := range turns {
		id := fmt.Sprintf("toolu_0123456789abcdef%04d", n)
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"c%d"}}]}`, id, n)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"output %d"}]}`, id, n)
	}
	b.WriteString(`]}`)
	c, err := APIOf("/v1/messages").Parse([]byte(b.String()))
	require.NoError(t, err)
	c.Owner = "somebody"
	new(Keyring).Identify(c)
	id := "toolu_0123456789abcdef0007"
	want := Key(sha256.Sum256([]byte("i" + string(rune(len(id))) + id + string(rune(len(c.Owner))) + c.Owner)))
	var marks [][]Key
	allocations := testing.AllocsPerRun(10, func() { marks = c.Marks() })
	found := 0
	for _, of := range marks {
		for _, m := range of {
			if m == want {
				found++
			}
		}
	}
	require.Equal(t, 1, found)
	require.Less(t, int(allocations), 10*turns)
}
