package trace

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// strange returns a record in which every optional part is present.
func strange(t testing.TB) Record {
	d := fsm.MustCompile(fsm.RequestTable())
	r := recordOf(t, d, []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.Eligible, fsm.PrunerTimedOut, fsm.FallBack, fsm.Written}, 0)
	r.Lost = 2
	r.Tool = "a\"b\\\n\u2028\xff€𝄞é"
	r.Detail = &Detail{Question: `why \u00e9?`, Path: "\\", Command: "ls\\\\", Pattern: "\x1f"}
	return r
}

// A line cut off at any byte is recognised as torn.
func TestEveryBeginningOfARecordIsTorn(t *testing.T) {
	records := append(everyRecord(t), strange(t))
	for n := range records {
		line := reseal(&records[n])
		for i := 1; i < len(line); i++ {
			if n%8 == 0 || n == len(records)-1 || (i+n)%16 == 0 {
				var back Record
				require.ErrorIs(t, NewDecoder().Decode(line[:i], &back), ErrTorn, "%s", line[:i])
			}
		}
	}
}

// A cut line that is not a prefix of a valid record was not written by this package.
func TestNoOtherBeginningIsTorn(t *testing.T) {
	r := strange(t)
	line := string(reseal(&r))
	upTo := func(text string) string { return line[:strings.Index(line, text)] }
	for name, begins := range map[string]string{
		"something else":          `{"v":3,"nonsense":{"a":`,
		"garbage in front":        `hello {"v":3,"server":"0.`,
		"a space in front":        ` {"v":3,"server":"0.`,
		"a byte order mark":       "\ufeff" + `{"v":3,"server":"0.`,
		"another version":         `{"v":4,"server":"0.`,
		"no number":               `{"v":3,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":x`,
		"a leading zero":          `{"v":3,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":007,"prev`,
		"an empty predecessor":    `{"v":3,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":7,"prev":"","id`,
		"none lost":               `{"v":3,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":7,"lost":0,"id`,
		"another escape":          `{"v":3,"server":"\/`,
		"another control":         `{"v":3,"server":"\n`,
		"a tab":                   "{\"v\":3,\"server\":\"a\tb",
		"no UTF-8":                "{\"v\":3,\"server\":\"a\xffb",
		"no time":                 upTo(`2026-`) + "yesterday",
		"half a time":             upTo(`-21T`) + "/21T",
		"fields in another order": upTo(`"attempted"`) + `"zoo":1,"applied":1,"b`,
		"no metadata":             upTo(`"applied"`) + `},"byt`,
		"no sizes":                upTo(`"bytes"`) + `"bytes":{"raw":0,"sent":0,"wire":0},"tok`,
		"another checksum":        upTo(`"sum"`) + `"sum":"00`,
		"more than a checksum":    line[:len(line)-2] + "0",
		"CR":                      line[:300] + "\r",
	} {
		t.Run(name, func(t *testing.T) {
			var back Record
			err := NewDecoder().Decode([]byte(begins), &back)
			require.Error(t, err)
			assert.NotErrorIs(t, err, ErrTorn, begins)
		})
	}
}

func TestALineThatEndsInCRIsSaidToDoSo(t *testing.T) {
	r := strange(t)
	var back Record
	require.ErrorIs(t, NewDecoder().Decode(append(reseal(&r), '\r'), &back), ErrLineEnd)
}
