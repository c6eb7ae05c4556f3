package trace

import (
	"fmt"
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
	r.Amends, r.Lost = true, 2
	r.Tool = "a\"b\\\n\u2028\xff€𝄞é"
	r.Detail = &Detail{Question: `why \u00e9?`, Path: "\\", Command: "ls\\\\", Pattern: "\x1f"}
	return r
}

// A line cut off at any byte is recognised as torn.
func TestEveryBeginningOfARecordIsTorn(t *testing.T) {
	records := append(everyRecord(t), strange(t))
	for n := range records {
		line := Reseal(&records[n])
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
	line := string(Reseal(&r))
	upTo := func(text string) string { return line[:strings.Index(line, text)] }
	for name, begins := range map[string]string{
		"something else":          `{"v":2,"nonsense":{"a":`,
		"garbage in front":        `hello {"v":2,"server":"0.`,
		"a space in front":        ` {"v":2,"server":"0.`,
		"a byte order mark":       "\ufeff" + `{"v":2,"server":"0.`,
		"another version":         `{"v":4,"server":"0.`,
		"no number":               `{"v":2,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":x`,
		"a leading zero":          `{"v":2,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":007,"prev`,
		"an empty predecessor":    `{"v":2,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":7,"prev":"","id`,
		"none lost":               `{"v":2,"server":"0.1.0","machine":"request","table":"d4","writer":"00","seq":7,"lost":0,"id`,
		"another escape":          `{"v":2,"server":"\/`,
		"another control":         `{"v":2,"server":"\n`,
		"a tab":                   "{\"v\":2,\"server\":\"a\tb",
		"no UTF-8":                "{\"v\":2,\"server\":\"a\xffb",
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
	require.ErrorIs(t, NewDecoder().Decode(append(Reseal(&r), '\r'), &back), ErrLineEnd)
}

// An amending record must agree with the record it amends in everything but its end.
func TestWhatLasts(t *testing.T) {
	r := strange(t)
	line := Reseal(&r)
	d, back := NewDecoder(), Record{}
	require.NoError(t, d.Decode(line, &back))
	before := fmt.Sprintf("%s", d.Lasting())
	for name, change := range map[string]func(*Record){
		"session": func(r *Record) { r.Session = "ses_2" }, "tool": func(r *Record) { r.Tool = "bash" },
		"start": func(r *Record) { r.Start = r.Start.Add(1000) }, "a step": func(r *Record) { r.Steps[2].Micros++ },
		"a field": func(r *Record) { setValue(r, "raw_bytes", int64(1)) }, "subject": func(r *Record) { r.Subject = "f" },
		"part": func(r *Record) { r.Part = !r.Part }, "detail": func(r *Record) { r.Detail.Path = "x" },
	} {
		changed := strange(t)
		change(&changed)
		require.NoError(t, d.Decode(Reseal(&changed), &back))
		assert.NotEqual(t, before, fmt.Sprintf("%s", d.Lasting()), name)
	}
	same := strange(t)
	same.Amends, same.Seq, same.Lost, same.Steps[len(same.Steps)-1].Micros = false, 99, 0, 1<<20
	same.Bytes, same.Tokens, same.Outcome = Bytes{}, Tokens{}, "x"
	require.NoError(t, d.Decode(Reseal(&same), &back))
	assert.Equal(t, before, fmt.Sprintf("%s", d.Lasting()))
}

func setValue(r *Record, field string, value any) {
	for i := range r.Pruning {
		if r.Pruning[i].Field == field {
			r.Pruning[i].Value = value
		}
	}
}
