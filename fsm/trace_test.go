package fsm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

// recordOf runs a machine by a clock that moves 5 ms with every look.
func recordOf(t testing.TB, d *Definition, way []Trigger, n int) Record {
	t.Helper()
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
	metadata := map[string]any{}
	m := d.New(fmt.Sprintf("req_%04d", n), Hooks{
		Now: func() time.Time { now = now.Add(5 * time.Millisecond); return now },
		Set: func(field string, value any) { metadata[field] = value },
	})
	facts := Facts{
		"tool": "read", "raw_bytes": 4000, "pruned_bytes": 400, "pruner_duration_ms": int64(4), "reason": "no_focus_question",
		"code": "not_found", "error.message": "it said no", "duration_ms": 1, "message": "a secret", "bytes": 1, "root": "/secret",
	}
	for _, trigger := range way {
		require.NoError(t, m.Fire(t.Context(), trigger, facts))
	}
	var values []Value
	for _, field := range slices.Sorted(maps.Keys(metadata)) {
		values = append(values, Value{field, metadata[field]})
	}
	r := NewRecord(m, values)
	r.Server, r.Writer, r.Seq, r.Prev = "0.1.0", "00112233445566ff", uint64(n+2), "ffeeddccbbaa99887766554433221100"
	r.Session, r.Client, r.Tool, r.Subject = "ses_1", "claude-code", "read", "0123456789abcdef"
	r.Part = n%3 == 0
	r.Bytes, r.Tokens = TraceBytes{4000, 4000, 9000}, TraceTokens{1000, 1000, 12, true}
	if metadata["applied"] == true {
		r.Bytes.Sent, r.Tokens.Sent = 400, 100
	}
	return r
}

func replayer(t testing.TB) *Replayer {
	t.Helper()
	p, err := NewReplayer()
	require.NoError(t, err)
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
	want := `{"v":1,"server":"0.1.0","machine":"request","table":"` + d.Hash() + `","writer":"00112233445566ff","seq":1,"lost":2,` +
		`"id":"req_0000","amends":true,"session":"ses_1","client":"claude-code","tool":"a\"b\\\u000a` + "\u2028\ufffd" + `","start":"2026-11-21T04:00:00.005000Z","steps":[` +
		`{"from":"req:received","trigger":"accept","to":"req:validating","row":"T9","events":["tool.request_received"],"us":5000},` +
		`{"from":"req:validating","trigger":"arguments_valid","to":"req:executing_tool","row":"T11","events":["tool.exec_start"],"us":10000},` +
		`{"from":"req:executing_tool","trigger":"tool_failed","to":"req:tool_error","row":"T12 E6","events":["tool.exec_failed"],"us":15000,"why":"not_found"}],` +
		`"outcome":"tool_error","pruning":{"applied":false,"attempted":false,"fallback":false,"raw_bytes":4000,"reason":"no_focus_question"},` +
		`"bytes":{"raw":4000,"sent":4000,"wire":9000},"tokens":{"raw":1000,"sent":1000,"question":12,"estimated":true},` +
		`"subject":"0123456789abcdef","part":true,"detail":{"question":"why?","path":"a/b.go","command":"ls","pattern":"x"},"sum":"` + r.Sum + `"}` + "\n"
	assert.Equal(t, want, line)
	assert.Len(t, r.Sum, 32)
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
		"a new version":  {strings.Replace(line, `{"v":1`, `{"v":2`, 1), ErrSchema},
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

// change is something that could be done to a record by someone who can make a
// checksum fit. It is false when it does not apply.
type change struct {
	name string
	do   func(*Record, *rand.Rand) bool
}

func anyStep(r *Record, random *rand.Rand) *TraceStep { return &r.Steps[random.IntN(len(r.Steps))] }

// changes make the way, the events, the metadata or the order of times impossible.
var changes = []change{
	{"from", func(r *Record, random *rand.Rand) bool { anyStep(r, random).From = "req:elsewhere"; return true }},
	{"from another state", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.From, s.To = s.To, s.From
		return true
	}},
	{"to", func(r *Record, random *rand.Rand) bool { anyStep(r, random).To = "run:nowhere"; return true }},
	{"trigger", func(r *Record, random *rand.Rand) bool { anyStep(r, random).Trigger = "magic"; return true }},
	{"row", func(r *Record, random *rand.Rand) bool { anyStep(r, random).Row += "9"; return true }},
	{"event added", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		s.Events = append(s.Events, "tool.exec_ok")
		return true
	}},
	{"event dropped", func(r *Record, random *rand.Rand) bool {
		s := anyStep(r, random)
		if len(s.Events) == 0 {
			return false
		}
		s.Events = s.Events[1:]
		return true
	}},
	{"events swapped", func(r *Record, _ *rand.Rand) bool {
		for i := range r.Steps {
			if e := r.Steps[i].Events; len(e) > 1 {
				e[0], e[1] = e[1], e[0]
				return true
			}
		}
		return false
	}},
	{"step dropped", func(r *Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps = slices.Delete(r.Steps, i, i+1)
		return true
	}},
	{"step twice", func(r *Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps = slices.Insert(r.Steps, i, r.Steps[i])
		return true
	}},
	{"steps swapped", func(r *Record, _ *rand.Rand) bool {
		if len(r.Steps) < 2 {
			return false
		}
		r.Steps[0], r.Steps[1] = r.Steps[1], r.Steps[0]
		return true
	}},
	{"cut short", func(r *Record, _ *rand.Rand) bool {
		r.Steps = r.Steps[:len(r.Steps)-1]
		if n := len(r.Steps); n > 0 {
			r.Outcome = r.Steps[n-1].To.Short()
		}
		return true
	}},
	{"time backwards", func(r *Record, random *rand.Rand) bool {
		i := random.IntN(len(r.Steps))
		r.Steps[i].Micros = -1
		if i > 0 {
			r.Steps[i].Micros = r.Steps[i-1].Micros - 1
		}
		return true
	}},
	{"outcome", func(r *Record, _ *rand.Rand) bool { r.Outcome += "x"; return true }},
	{"why is prose", func(r *Record, random *rand.Rand) bool { anyStep(r, random).Why = "as you like it"; return true }},
	{"machine", func(r *Record, _ *rand.Rand) bool { r.Machine += "x"; return true }},
	{"another table", func(r *Record, _ *rand.Rand) bool {
		hash := RunTable().Hash()
		if r.Table == hash {
			hash = RequestTable().Hash()
		}
		r.Table = hash
		return true
	}},
	{"metadata added", func(r *Record, _ *rand.Rand) bool {
		r.Pruning = append(r.Pruning, Value{"kept_lines", int64(3)})
		return true
	}},
	{"metadata dropped", func(r *Record, random *rand.Rand) bool {
		r.Pruning = slices.DeleteFunc(r.Pruning, func(v Value) bool { return isQuote(v.Field) })
		if len(r.Pruning) == 0 {
			return false
		}
		i := random.IntN(len(r.Pruning))
		r.Pruning = slices.Delete(r.Pruning, i, i+1)
		return true
	}},
	{"metadata twice", func(r *Record, _ *rand.Rand) bool {
		if len(r.Pruning) == 0 {
			return false
		}
		r.Pruning = append(r.Pruning, r.Pruning[0])
		return true
	}},
	{"a flag turned over", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if on, ok := v.Value.(bool); ok {
				r.Pruning[i].Value = !on
				return true
			}
		}
		return false
	}},
	{"a reason of another row", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == "error.code" || v.Field == "reason" && len(r.Steps) > 4 {
				r.Pruning[i].Value = "something_else"
				return true
			}
		}
		return false
	}},
	{"a size below zero", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if _, ok := v.Value.(int64); ok {
				r.Pruning[i].Value = int64(-1)
				return true
			}
		}
		r.Bytes.Wire = -1
		return true
	}},
	{"a pruner that took longer than it was waited for", func(r *Record, _ *rand.Rand) bool {
		for i, v := range r.Pruning {
			if v.Field == "pruner_duration_ms" {
				r.Pruning[i].Value = int64(1 << 40)
				return true
			}
		}
		return false
	}},
	{"saved without pruning", func(r *Record, _ *rand.Rand) bool {
		if applied, _ := find(r.Pruning, "applied"); applied == true {
			return false
		}
		r.Bytes.Raw++
		return true
	}},
}

// A record with a checksum that fits still shows that no machine can have taken
// its way.
func TestImpossibleRecordsAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	p, decoder := replayer(t), NewDecoder()
	applied := map[string]int{}
	for _, original := range everyRecord(t) {
		for _, c := range changes {
			line := AppendRecord(nil, &original)
			var r Record
			require.NoError(t, NewDecoder().Decode(line[:len(line)-1], &r))
			if !c.do(&r, random) {
				continue
			}
			applied[c.name]++
			sealed := Reseal(&r)
			var back Record
			require.NoError(t, decoder.Decode(sealed, &back), "%s: %s", c.name, sealed)
			require.Error(t, p.Replay(&back), "%s: %s", c.name, sealed)
		}
	}
	for _, c := range changes {
		assert.Positive(t, applied[c.name], c.name)
	}
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
