package fsm

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
)

// everyRecord is a record of every way through every machine, and of every way
// that an abort cuts short.
func everyRecord(t testing.TB) []Record {
	t.Helper()
	var records []Record
	for _, table := range Tables() {
		d := MustCompile(table)
		for _, way := range ways(d, d.Initial(), nil) {
			records = append(records, recordOf(t, d, way, len(records)))
		}
	}
	require.Greater(t, len(records), 60)
	return records
}

func ways(d *Definition, from State, so []Trigger) [][]Trigger {
	if d.Terminal(from) {
		return [][]Trigger{slices.Clone(so)}
	}
	var all [][]Trigger
	for _, trigger := range d.Leaving(from) {
		row, _ := d.Row(from, trigger)
		all = append(all, ways(d, row.To, append(so, trigger))...)
	}
	return all
}

// recordOf runs a machine by a clock that moves 5 ms with every look, and says of
// it what a server would.
func recordOf(t testing.TB, d *Definition, way []Trigger, n int) Record {
	t.Helper()
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	m := d.New(fmt.Sprintf("req_%04d", n), Hooks{
		Now: func() time.Time { now = now.Add(5 * time.Millisecond); return now },
	})
	for _, trigger := range way {
		require.NoError(t, m.Fire(t.Context(), trigger, factsFor(trigger, way, n)))
	}
	r := NewRecord(m)
	r.Server, r.Writer, r.Seq, r.Prev = "0.1.0", "00112233445566ff", uint64(n+2), "ffeeddccbbaa99887766554433221100"
	r.Client = "claude-code"
	if strings.HasPrefix(d.Name(), "request") {
		describeRequest(&r, way, n)
	}
	return r
}

// factsFor is what a state's work would have found out.
func factsFor(trigger Trigger, way []Trigger, n int) Facts {
	facts := Facts{
		"tool": "read", "raw_bytes": 4000, "pruned_bytes": 400, "pruner_duration_ms": int64(4), "code": "not_found",
		"error.message": "it said no", "duration_ms": 1, "message": "a secret", "bytes": 1, "root": "/secret",
	}
	if trigger == ToolTimedOut {
		facts["code"] = "timeout"
	}
	switch trigger {
	case ToolFailed, ToolTimedOut:
		facts["reason"] = []string{"disabled_or_unconfigured", "output_empty", "no_focus_question"}[n%3]
	case PrunerTimedOut:
		facts["reason"] = "timeout"
	case PrunerHTTPFailed:
		facts["reason"] = "http_error"
	case PrunerInvalid:
		facts["reason"] = "invalid_response"
	default:
		if possible := codes[trigger]; len(possible) > 0 {
			facts["reason"] = possible[n%len(possible)]
		}
	}
	if outputIsEmpty(way) {
		facts["raw_bytes"] = 0
	}
	return facts
}

func outputIsEmpty(way []Trigger) bool {
	return slices.ContainsFunc(way, func(t Trigger) bool { return t == ToolFailed || t == ToolTimedOut || t == OutputEmpty })
}

// describeRequest adds what a record says beside the way.
func describeRequest(r *Record, way []Trigger, n int) {
	r.Session = "ses_1"
	if way[0] == Accept {
		r.Tool = "read"
	}
	ran := len(way) > 1 && way[1] == ArgumentsValid
	if ran {
		r.Subject, r.Part = "0123456789abcdef", n%3 == 0
	}
	end := r.Steps[len(r.Steps)-1]
	if end.Trigger == WriteFailed || end.Why == "cancelled" {
		return
	}
	r.Bytes.Wire = 9000
	reason, _ := find(r.Pruning, "reason")
	asked := reason != "no_focus_question" || slices.Contains(way, RepeatRead)
	if ran && asked {
		r.Tokens.Question, r.Tokens.Estimated = 12, true
	}
	switch {
	case end.Trigger == Abort || len(r.Pruning) == 0 || slices.Contains(way, OutputEmpty):
		return
	case slices.Contains(way, Pruned):
		r.Bytes.Raw, r.Bytes.Sent = 4000, 400
		r.Tokens.Raw, r.Tokens.Sent, r.Tokens.Estimated = 1000, 100, true
	default:
		r.Bytes.Raw, r.Bytes.Sent = 4000, 4000
		r.Tokens.Raw, r.Tokens.Sent, r.Tokens.Estimated = 1000, 1000, true
	}
}

func replayer(t testing.TB) *Replayer {
	t.Helper()
	p, err := NewReplayer()
	require.NoError(t, err)
	p.OneText = []string{"read"}
	return p
}

func TestEveryWayOfEveryMachineReplays(t *testing.T) {
	p := replayer(t)
	for _, r := range everyRecord(t) {
		line := AppendRecord(nil, &r)
		var back Record
		require.NoError(t, NewDecoder().Decode(line[:len(line)-1], &back), "%s", line)
		require.NoError(t, p.Replay(&back), "%s", line)
		assert.Equal(t, string(line), string(AppendRecord(nil, &back)))
		assert.True(t, json.Valid(line), "%s", line)
		assert.NotContains(t, string(line), "secret", "no free text of an event gets into a record")
	}
}

// The spelling of one line, as documented.
func TestARecordIsSpelledAsDocumented(t *testing.T) {
	d := MustCompile(RequestTable())
	r := recordOf(t, d, []Trigger{Accept, ArgumentsValid, ToolFailed}, 0)
	r.Amends, r.Lost, r.Prev, r.Seq = true, 2, "", 1
	r.Tool = "a\"b\\\n\u2028\xff"
	r.Detail = &TraceDetail{Question: "why?", Path: "a/b.go", Command: "ls", Pattern: "x"}
	line := string(AppendRecord(nil, &r))
	want := `{"v":2,"server":"0.1.0","machine":"request","table":"` + d.Hash() + `","writer":"00112233445566ff","seq":1,"lost":2,` +
		`"id":"req_0000","amends":true,"session":"ses_1","client":"claude-code","tool":"a\"b\\\u000a` + "\u2028\ufffd" + `","start":"2026-11-21T04:00:00.005000Z","steps":[` +
		`{"from":"req:received","trigger":"accept","to":"req:validating","row":"T9","events":["tool.request_received"],"us":5000},` +
		`{"from":"req:validating","trigger":"arguments_valid","to":"req:executing_tool","row":"T11","events":["tool.exec_start"],"us":10000},` +
		`{"from":"req:executing_tool","trigger":"tool_failed","to":"req:tool_error","row":"T12 E6","events":["tool.exec_failed"],"us":15000,"why":"not_found"}],` +
		`"outcome":"tool_error","pruning":{"applied":false,"attempted":false,"fallback":false,"raw_bytes":0,"reason":"disabled_or_unconfigured"},` +
		`"bytes":{"raw":4000,"sent":4000,"wire":9000},"tokens":{"raw":1000,"sent":1000,"question":12,"estimated":true},` +
		`"subject":"0123456789abcdef","part":true,"detail":{"question":"why?","path":"a/b.go","command":"ls","pattern":"x"},"sum":"` + r.Sum + `"}` + "\n"
	assert.Equal(t, want, line)
	assert.Len(t, r.Sum, 8)
}

func TestStringsSurviveWriting(t *testing.T) {
	require.NoError(t, quick.Check(func(s string) bool {
		valid := strings.ToValidUTF8(s, "\ufffd") // quick makes valid strings only; bytes are tested above
		var back string
		return json.Unmarshal(appendString(nil, s), &back) == nil && back == valid
	}, nil))
}

// Whatever byte of a line is changed, the line is refused.
func TestAnyChangedByteIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	decoder := NewDecoder()
	for i, r := range everyRecord(t) {
		r.Schema = 1 + i%2
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
		"a new version":  {strings.Replace(line, `{"v":2`, `{"v":3`, 1), ErrSchema},
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
	r := recordOf(t, MustCompile(RequestTable()), []Trigger{Accept, ArgumentsValid, ToolFailed}, 0)
	slices.Reverse(r.Pruning)
	line := AppendRecord(nil, &r) // and with a checksum that fits
	var back Record
	require.ErrorIs(t, NewDecoder().Decode(line[:len(line)-1], &back), ErrSpelling)
}

func TestReplayNamesTheStep(t *testing.T) {
	d := MustCompile(RequestTable())
	r := recordOf(t, d, []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion, Written}, 0)
	r.Steps[2].Trigger = ToolFailed
	require.EqualError(t, replayer(t).Replay(&r),
		"step 3 (req:executing_tool --tool_failed--> req:raw_output_ready): row T12 E6 leads to req:tool_error")
	r.Table = "0123456789abcdef"
	require.ErrorContains(t, replayer(t).Replay(&r), "not known to this program: use the version that wrote it (0.1.0) or a later one")
}

// What an old version wrote is replayed against the old table, though the table
// of today is another one and knows other events.
func TestOldTablesStayReplayable(t *testing.T) {
	old := RequestTable().Without("T15 A3")
	require.NotEqual(t, old.Hash(), RequestTable().Hash())
	d := MustCompile(old)
	r := recordOf(t, d, []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion, Written}, 0)
	line := AppendRecord(nil, &r)
	var back Record
	require.NoError(t, NewDecoder().Decode(line[:len(line)-1], &back))
	require.Error(t, replayer(t).Replay(&back))
	archived, err := DecodeTable(EncodeTable(old))
	require.NoError(t, err)
	require.NoError(t, ReplayerOf(archived, RequestTable()).Replay(&back))
}

// Lines of the first version hold their own SHA-256, and the next line of the same
// process holds that again.
func TestLinesOfTheFirstVersionAreRead(t *testing.T) {
	r := everyRecord(t)[0]
	r.Schema = 1
	line := AppendRecord(nil, &r)
	line = line[:len(line)-1]
	before, _, _ := bytes.Cut(line, []byte(`,"sum":`))
	assert.Equal(t, fmt.Sprintf(`,"sum":"%x"}`, sha256.Sum256(before))[:len(`,"sum":"`)+32]+`"}`, string(line[len(before):]))
	var back Record
	require.NoError(t, NewDecoder().Decode(line, &back))
	assert.Equal(t, 1, back.Schema)
	assert.Equal(t, back.Sum, back.Link)
	require.NoError(t, replayer(t).Replay(&back))
	today := bytes.Replace(line, []byte(`{"v":1`), []byte(`{"v":2`), 1)
	require.ErrorIs(t, NewDecoder().Decode(today, &back), ErrChecksum, "each version has its own checksum")
}

// What a line says of itself and of the one before it can be made with common tools.
func TestChecksumAndLinkAreThoseOfOtherTools(t *testing.T) {
	r := everyRecord(t)[0]
	line := AppendRecord(nil, &r)
	line = line[:len(line)-1]
	before, _, _ := bytes.Cut(line, []byte(`,"sum":`))
	assert.Equal(t, fmt.Sprintf("%08x", crc32.ChecksumIEEE(before)), r.Sum)
	assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(line))[:32], r.Link)
}

// A record written from a live machine is the one that was made of it.
func TestALiveRecordIsWrittenAsAMadeOne(t *testing.T) {
	for _, table := range Tables() {
		d := MustCompile(table)
		for n, way := range ways(d, d.Initial(), nil) {
			m := d.New("x", Hooks{})
			for _, trigger := range way {
				require.NoError(t, m.Fire(t.Context(), trigger, factsFor(trigger, way, n)))
			}
			made, live := NewRecord(m), Record{}
			live.Take(m, false)
			text := string(AppendRecord(nil, &live))
			require.Equal(t, string(AppendRecord(nil, &made)), text)
			require.NotContains(t, text, "it said no", "that may quote what the request was about")
			live.Take(m, true)
			text = string(AppendRecord(nil, &live))
			require.Equal(t, len(m.values) > 0 && slices.ContainsFunc(made.Pruning, isErrorCode), strings.Contains(text, `"message":"it said no"`), text)
		}
	}
}

func isErrorCode(v Value) bool { return v.Field == "error.code" }

func TestAStepAheadIsTheStepTaken(t *testing.T) {
	d := MustCompile(RequestTable())
	m := d.New("req_1", Hooks{})
	for _, trigger := range []Trigger{Accept, ArgumentsValid, ToolSucceeded, OutputCaptured, NoQuestion} {
		require.NoError(t, m.Fire(t.Context(), trigger, Facts{"raw_bytes": 1}))
	}
	_, ok := m.Ahead(Accept)
	assert.False(t, ok)
	ahead, ok := m.Ahead(Written)
	require.True(t, ok)
	require.NoError(t, m.Fire(t.Context(), Written, nil))
	taken := m.Steps()[5].traced()
	taken.Micros = ahead.Micros
	assert.Equal(t, taken, ahead)
}

func FuzzDecode(f *testing.F) {
	for _, r := range everyRecord(f)[:10] {
		line := AppendRecord(nil, &r)
		f.Add(line[:len(line)-1])
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r Record
		if NewDecoder().Decode(line, &r) == nil && string(Reseal(&r)) != string(line) {
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

// The note on a text of which nothing was kept is there only because it was pruned.
func TestANoteThatNothingWasKeptIsSentOnly(t *testing.T) {
	p := replayer(t)
	for _, r := range everyRecord(t) {
		if !took(&r, Pruned) || !took(&r, Written) {
			continue
		}
		_ = set("pruned_bytes", int64(0))(&r, nil)
		for sizes, fits := range map[[2]int]bool{{4000, 90}: true, {4000, 50}: false, {4000, 200}: false, {4090, 90}: true, {4000, 0}: true} {
			r.Bytes.Raw, r.Bytes.Sent = sizes[0], sizes[1]
			r.Tokens.Raw, r.Tokens.Sent = 1000, sizes[1]/3
			var back Record
			require.NoError(t, NewDecoder().Decode(Reseal(&r), &back))
			err := p.Replay(&back)
			require.Equal(t, fits, err == nil, "%v: %v", sizes, err)
		}
	}
}
