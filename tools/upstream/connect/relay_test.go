package connect

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// upper is an editor that changes every line of the server.
type upper struct{ Editor }

func (upper) Waits() bool                   { return true }
func (upper) FromServer(line []byte) []byte { return bytes.ToUpper(line) }

// TestALineWithoutAnEndPassesUnchanged: only a line within the limit is kept until it ends.
func TestALineWithoutAnEndPassesUnchanged(t *testing.T) {
	fits, long := strings.Repeat("f", 2*pieceBytes)+"\n", strings.Repeat("l", 5*pieceBytes)+"\n"
	var out bytes.Buffer
	(&relayed{out: &out, editor: upper{}, most: 3 * pieceBytes}).fromServer(strings.NewReader(fits + long + "short\n" + long))
	assert.Equal(t, strings.ToUpper(fits)+long+"SHORT\n"+long, out.String())
}
