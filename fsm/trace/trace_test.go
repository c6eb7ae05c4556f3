package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// everyRecord returns a record for every path through every machine, and for every path
// that an abort cuts short.
func everyRecord(t testing.TB) []Record {
	t.Helper()
	var records []Record
	for _, table := range fsm.Tables() {
		d := fsm.MustCompile(table)
		for _, way := range ways(d, d.Initial(), nil) {
			records = append(records, recordOf(t, d, way, len(records)))
		}
	}
	require.Greater(t, len(records), 60)
	return records
}

func ways(d *fsm.Definition, from fsm.State, so []fsm.Trigger) [][]fsm.Trigger {
	if d.Terminal(from) {
		return [][]fsm.Trigger{slices.Clone(so)}
	}
	var all [][]fsm.Trigger
	for _, trigger := range d.Leaving(from) {
		row, _ := d.Row(from, trigger)
		all = append(all, ways(d, row.To, append(so, trigger))...)
	}
	return all
}

// recordOf runs a machine with a clock that advances 5 ms at every reading, and adds to the
// record what a server would.
func recordOf(t testing.TB, d *fsm.Definition, way []fsm.Trigger, n int) Record {
	t.Helper()
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	m := d.New(fmt.Sprintf("req_%04d", n), fsm.Hooks{
		Now: func() time.Time { now = now.Add(5 * time.Millisecond); return now },
	})
	for _, trigger := range way {
		require.NoError(t, m.Fire(t.Context(), trigger, factsFor(trigger, way, n)))
	}
	r := NewRecord(m)
	r.Server, r.Writer, r.Seq, r.Prev = "0.1.0", "00112233445566ff", uint64(n+2), "ffeeddccbbaa99887766554433221100"
	r.Client = "claude-code"
	if strings.HasPrefix(d.Name(), "request") {
		r.Session, r.Tool, r.Subject, r.Part = "ses_1", "read", "0123456789abcdef", true
		r.Bytes, r.Tokens = Bytes{4000, 4000, 9000, 0, 0}, Tokens{1000, 1000, 12, true}
	}
	return r
}

// factsFor returns the facts that the work of a state would produce.
func factsFor(fsm.Trigger, []fsm.Trigger, int) fsm.Facts {
	return fsm.Facts{
		"tool": "read", "raw_bytes": 4000, "pruned_bytes": 400, "pruner_duration_ms": int64(4), "code": "not_found", "reason": "timeout",
		"error.message": "it said no", "duration_ms": 1, "message": "a secret", "bytes": 1, "root": "/secret",
	}
}

// reseal encodes a changed record with a matching checksum, without the newline.
func reseal(r *Record) []byte {
	slices.SortFunc(r.Pruning, compareValues)
	line := AppendRecord(nil, r)
	return line[:len(line)-1]
}

func replay(p *Replayer, r *Record) error {
	_, err := p.Replay(r, nil)
	return err
}

func TestEveryWayOfEveryMachineReplays(t *testing.T) {
	p := NewReplayer()
	for _, r := range everyRecord(t) {
		line := AppendRecord(nil, &r)
		var back Record
		require.NoError(t, NewDecoder().Decode(line[:len(line)-1], &back), "%s", line)
		require.NoError(t, replay(p, &back), "%s", line)
		assert.Equal(t, string(line), string(AppendRecord(nil, &back)))
		assert.True(t, json.Valid(line), "%s", line)
		assert.NotContains(t, string(line), "secret", "no free text of an event gets into a record")
	}
}

// A line is encoded exactly as documented.
func TestARecordIsSpelledAsDocumented(t *testing.T) {
	d := fsm.MustCompile(fsm.RequestTable())
	r := recordOf(t, d, []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolFailed}, 0)
	r.Lost, r.Prev, r.Seq = 2, "", 1
	r.Tool = "a\"b\\\n\u2028\xff"
	r.Parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	r.Detail = &Detail{Question: "why?", Path: "a/b.go", Command: "ls", Pattern: "x"}
	line := string(AppendRecord(nil, &r))
	want := `{"v":3,"server":"0.1.0","machine":"request","table":"` + d.Hash() + `","writer":"00112233445566ff","seq":1,"lost":2,` +
		`"id":"req_0000","session":"ses_1","client":"claude-code","tool":"a\"b\\\u000a` + "\u2028\ufffd" + `","traceparent":"` + r.Parent + `","start":"2026-11-21T04:00:00.005000Z","steps":[` +
		`{"from":"req:received","trigger":"accept","to":"req:validating","row":"T9","events":["tool.request_received"],"us":5000},` +
		`{"from":"req:validating","trigger":"arguments_valid","to":"req:executing_tool","row":"T11","events":["tool.exec_start"],"us":10000},` +
		`{"from":"req:executing_tool","trigger":"tool_failed","to":"req:tool_error","row":"T12 E6","events":["tool.exec_failed"],"us":15000,"why":"not_found"}],` +
		`"outcome":"tool_error","pruning":{"applied":false,"attempted":false,"fallback":false,"raw_bytes":4000,"reason":"timeout"},` +
		`"bytes":{"raw":4000,"sent":4000,"wire":9000},"tokens":{"raw":1000,"sent":1000,"question":12,"estimated":true},` +
		`"subject":"0123456789abcdef","part":true,"detail":{"question":"why?","path":"a/b.go","command":"ls","pattern":"x"},"sum":"` + r.Sum + `"}` + "\n"
	assert.Equal(t, want, line)
	assert.Len(t, r.Sum, 8)
}

func TestStringsSurviveWriting(t *testing.T) {
	require.NoError(t, quick.Check(func(s string) bool {
		valid := strings.ToValidUTF8(s, "\ufffd") // quick makes valid strings only; see above for others
		var back string
		return json.Unmarshal(appendString(nil, s), &back) == nil && back == valid
	}, nil))
}

// A line in which any single byte was changed is refused.
func TestAnyChangedByteIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	decoder := NewDecoder()
	for _, r := range everyRecord(t) {
		line := AppendRecord(nil, &r)
		line = line[:len(line)-1]
		for range 200 {
			changed := bytes.Clone(line)
			i := random.IntN(len(changed))
			changed[i] ^= byte(1 + random.IntN(255))
			var back Record
			require.Error(t, decoder.Decode(changed, &back), "byte %d of %s", i, changed)
		}
	}
}

func TestWhatIsWrongWithALineIsSaid(t *testing.T) {
	r := everyRecord(t)[0]
	line := string(AppendRecord(nil, &r))
	line = line[:len(line)-1]
	for name, c := range map[string]struct {
		line string
		want error
	}{
		"a field":        {strings.Replace(line, `"tool":"read"`, `"tool":"bash"`, 1), ErrChecksum},
		"the checksum":   {strings.Replace(line, `"sum":"`+r.Sum[:4], `"sum":"0000`, 1), ErrChecksum},
		"white space":    {strings.Replace(line, `,"id"`, `, "id"`, 1), ErrSpelling},
		"another field":  {strings.Replace(line, `,"id"`, `,"extra":1,"id"`, 1), ErrSpelling},
		"a field twice":  {strings.Replace(line, `,"id"`, `,"table":"x","id"`, 1), ErrSpelling},
		"capitals":       {strings.Replace(line, `,"id"`, `,"ID"`, 1), ErrSpelling},
		"torn":           {line[:len(line)/2], ErrTorn},
		"torn early":     {`{"v`, ErrTorn},
		"torn in a word": {line[:strings.Index(line, "req:rec")+3], ErrTorn},
		"a new version":  {strings.Replace(line, `{"v":3`, `{"v":4`, 1), ErrSchema},
		"no version":     {`{"a":1}`, ErrSchema},
		"a number first": {"0" + line, nil},
		"no JSON":        {"hello", nil},
		"two in one":     {line + line, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var back Record
			err := NewDecoder().Decode([]byte(c.line), &back)
			require.Error(t, err)
			if c.want != nil {
				assert.ErrorIs(t, err, c.want)
			} else {
				assert.NotErrorIs(t, err, ErrTorn)
			}
		})
	}
}

func TestMetadataInAnotherOrderIsNoRecord(t *testing.T) {
	r := recordOf(t, fsm.MustCompile(fsm.RequestTable()), []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolFailed}, 0)
	slices.Reverse(r.Pruning)
	line := AppendRecord(nil, &r) // and with a matching checksum
	var back Record
	require.ErrorIs(t, NewDecoder().Decode(line[:len(line)-1], &back), ErrSpelling)
}

func TestReplayNamesTheStep(t *testing.T) {
	d := fsm.MustCompile(fsm.RequestTable())
	r := recordOf(t, d, []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion, fsm.Written}, 0)
	r.Steps[2].Trigger = fsm.ToolFailed
	require.EqualError(t, replay(NewReplayer(), &r),
		"step 3 (req:executing_tool --tool_failed--> req:raw_output_ready): row T12 E6 leads to req:tool_error")
	r.Table = "0123456789abcdef"
	require.ErrorContains(t, replay(NewReplayer(), &r), "not known to this program: use the version that wrote it (0.1.0)")
}

// A record is replayed against the table that it names, although another table of the same machine is known.
func TestARecordNamesItsTable(t *testing.T) {
	old := fsm.RequestTable().Without("T15 A3")
	require.NotEqual(t, old.Hash(), fsm.RequestTable().Hash())
	d := fsm.MustCompile(old)
	r := recordOf(t, d, []fsm.Trigger{fsm.Accept, fsm.ArgumentsValid, fsm.ToolSucceeded, fsm.OutputCaptured, fsm.NoQuestion, fsm.Written}, 0)
	line := AppendRecord(nil, &r)
	var back Record
	require.NoError(t, NewDecoder().Decode(line[:len(line)-1], &back))
	require.Error(t, replay(NewReplayer(), &back))
	require.NoError(t, replay(ReplayerOf(old, fsm.RequestTable()), &back))
}

// Lines of a program before the first release are not read, and the error says what to do.
func TestLinesOfOlderVersionsAreNamed(t *testing.T) {
	r := everyRecord(t)[0]
	for _, version := range []string{"0", "1", "2"} {
		line := strings.Replace(string(reseal(&r)), `{"v":3`, `{"v":`+version, 1)
		err := NewDecoder().Decode([]byte(line), new(Record))
		require.ErrorIs(t, err, ErrSchema)
		assert.EqualError(t, err, "unknown schema version "+version+
			": a program before the first release wrote it, this one reads version 3: move the file away, a server begins a new one")
	}
	err := NewDecoder().Decode([]byte(strings.Replace(string(reseal(&r)), `{"v":3`, `{"v":4`, 1)), new(Record))
	assert.EqualError(t, err, "unknown schema version 4: a later program wrote it, this one reads version 3: read it with that one")
}

// The checksum of a line and the link to the line before can be computed with common tools.
func TestChecksumAndLinkAreThoseOfOtherTools(t *testing.T) {
	r := everyRecord(t)[0]
	line := AppendRecord(nil, &r)
	line = line[:len(line)-1]
	before, _, _ := bytes.Cut(line, []byte(`,"sum":`))
	assert.Equal(t, fmt.Sprintf("%08x", crc32.ChecksumIEEE(before)), r.Sum)
	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(line))[:32], r.Link)
}

// A record written from a live machine equals the record made from it.
func TestALiveRecordIsWrittenAsAMadeOne(t *testing.T) {
	for _, table := range fsm.Tables() {
		d := fsm.MustCompile(table)
		for n, way := range ways(d, d.Initial(), nil) {
			m := d.New("x", fsm.Hooks{})
			for _, trigger := range way {
				require.NoError(t, m.Fire(t.Context(), trigger, factsFor(trigger, way, n)))
			}
			made, live := NewRecord(m), Record{}
			live.Take(m)
			text := string(AppendRecord(nil, &live))
			require.Equal(t, string(AppendRecord(nil, &made)), text)
			require.Equal(t, slices.ContainsFunc(made.Pruning, isErrorCode), strings.Contains(text, `"message":"it said no"`), text)
		}
	}
}

func isErrorCode(v Value) bool { return v.Field == "error.code" }

func FuzzDecode(f *testing.F) {
	for _, r := range everyRecord(f)[:10] {
		line := AppendRecord(nil, &r)
		f.Add(line[:len(line)-1])
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r Record
		if NewDecoder().Decode(line, &r) == nil && string(reseal(&r)) != string(line) {
			t.Errorf("%q was read and is written otherwise", line)
		}
	})
}

func TestTimesAreWrittenAsTheirLayoutSays(t *testing.T) {
	zone := time.FixedZone("", -7*3600)
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Date(2026, 1, 2, 3, 4, 5, 6_007_999, time.UTC), time.Date(2026, 12, 31, 23, 59, 59, 999_999_999, zone),
		time.Date(999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		assert.Equal(t, at.UTC().Format(startLayout), string(appendTime(nil, at)))
	}
}
