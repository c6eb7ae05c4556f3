package trace

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcp-pruner/mcp-pruner/fsm"
)

// startLayout is the layout of a record's start time: UTC, microseconds.
const startLayout = "2006-01-02T15:04:05.000000Z"

// linkBytes is the number of bytes of a line's SHA-256 that the next line repeats.
const linkBytes = 16

// AppendRecord appends the only valid encoding of a record, with its newline. It sets r.Sum
// to the checksum and r.Link to the link that the next line will repeat. Because the
// encoding is unique, a line that decodes as a record but is encoded differently was not
// written by this package.
func AppendRecord(b []byte, r *Record) []byte {
	start := len(b)
	b = r.appendRest(r.appendPlace(b), start, nil)
	line := b[start : len(b)-1]
	r.Sum, r.Link = string(line[len(line)-len(`"}`)-2*crc32.Size:len(line)-len(`"}`)]), link(line)
	return b
}

// link returns the link to a line, given without its newline: the first linkBytes bytes of
// its SHA-256, in hex.
func link(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:linkBytes])
}

// appendSum appends the checksum of line, which is given up to the place of the checksum:
// its CRC-32 in hex. The checksum detects accidental and careless changes. The link in the
// next line detects deliberate ones, and is computed after the answer has been written.
func appendSum(b, line []byte) []byte {
	sum := crc32.ChecksumIEEE(line)
	for shift := 28; shift >= 0; shift -= 4 {
		b = append(b, hexDigits[sum>>shift&15])
	}
	return b
}

// appendRest appends everything after the line's place in the trace. The line begins at
// b[start]. If sign is not nil, the line is sealed.
func (r *Record) appendRest(b []byte, start int, sign *signer) []byte {
	b = r.appendIDs(b)
	b = append(b, `,"start":"`...)
	b = appendTime(b, r.Start)
	b = append(b, `","steps":[`...)
	b = r.appendSteps(b)
	b = appendMember(b, `],"outcome":`, r.Outcome)
	b = r.appendMetadata(b)
	b = r.appendSizes(b)
	b = appendText(b, `,"subject":`, r.Subject)
	b = appendFlag(b, `,"part":true`, r.Part)
	b = r.Detail.append(b)
	b = appendFlag(b, `,"opaque":true`, r.Opaque)
	b = appendText(b, `,"answer":`, string(r.Answer))
	b = r.Ended.append(b)
	if sign != nil {
		b = sign.appendSeal(b, start)
	} else {
		b = r.Seal.append(b)
	}
	line := b[start:]
	b = append(b, `,"sum":"`...)
	b = appendSum(b, line)
	return append(b, "\"}\n"...)
}

func (r *Record) appendPlace(b []byte) []byte {
	b = appendInt(b, `{"v":`, SchemaVersion)
	b = appendMember(b, `,"server":`, r.Server)
	b = appendMember(b, `,"machine":`, r.Machine)
	b = appendMember(b, `,"table":`, r.Table)
	b = appendMember(b, `,"writer":`, r.Writer)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, r.Seq, 10)
	b = appendText(b, `,"prev":`, r.Prev)
	b = appendCount(b, `,"lost":`, r.Lost)
	b = r.Process.append(b)
	return appendText(b, `,"recovered":`, r.Recovered)
}

func (p *Process) append(b []byte) []byte {
	if p == nil {
		return b
	}
	b = appendMember(b, `,"process":{"key":`, p.Key)
	b = appendInt(b, `,"pid":`, p.PID)
	b = appendText(b, `,"run":`, p.Run)
	b = appendText(b, `,"host":`, p.Host)
	b = appendText(b, `,"user":`, p.User)
	b = appendText(b, `,"root":`, p.Root)
	b = appendText(b, `,"transport":`, p.Transport)
	return append(b, '}')
}

func (e *Ended) append(b []byte) []byte {
	if e == nil {
		return b
	}
	b = strconv.AppendBool(append(b, `,"ended":{"graceful":`...), e.Graceful)
	b = strconv.AppendBool(append(b, `,"kill_escalated":`...), e.Escalated)
	return append(b, '}')
}

func (r *Record) appendIDs(b []byte) []byte {
	b = appendMember(b, `,"id":`, r.ID)
	b = appendText(b, `,"session":`, r.Session)
	b = appendText(b, `,"client":`, r.Client)
	b = appendText(b, `,"tool":`, r.Tool)
	b = appendText(b, `,"traceparent":`, r.Parent)
	b = appendText(b, `,"owner":`, r.Owner)
	return appendText(b, `,"forwarded_user":`, r.User)
}

func (r *Record) appendSteps(b []byte) []byte {
	start := len(b)
	if r.live != nil {
		known, steps := headsOf(r.live.Definition()), r.live.Steps()
		for i := range steps {
			h := &known[steps[i].Row()]
			b = append(between(b, start), h.head...)
			b = appendTaken(b, steps[i].At.Microseconds(), h.why(&steps[i]))
		}
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		b = s.appendHead(between(b, start))
		b = appendTaken(b, s.Micros, s.Why)
	}
	return b
}

// between appends the comma before a member, except before the first one after start.
func between(b []byte, start int) []byte {
	if len(b) == start {
		return b
	}
	return append(b, ',')
}

// appendTaken appends the rest of a step, from its time on.
func appendTaken(b []byte, micros int64, why string) []byte {
	b = strconv.AppendInt(b, micros, 10)
	b = appendText(b, `,"why":`, why)
	return append(b, '}')
}

// appendHead appends a step up to its time.
func (s *Step) appendHead(b []byte) []byte {
	if s.head != "" {
		return append(b, s.head...)
	}
	b = appendMember(b, `{"from":`, string(s.From))
	b = appendMember(b, `,"trigger":`, string(s.Trigger))
	b = appendMember(b, `,"to":`, string(s.To))
	b = appendMember(b, `,"row":`, s.Row)
	b = append(b, `,"events":[`...)
	for i, name := range s.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, name)
	}
	return append(b, `],"us":`...)
}

// appendMetadata appends the metadata as the object that clients get: the fields error.code
// and error.message become an object "error" after the other fields.
func (r *Record) appendMetadata(b []byte) []byte {
	start, group := len(b), ""
	r.eachValue(func(field string, value any) {
		outer, name, nested := strings.Cut(field, ".")
		switch {
		case len(b) == start:
			b = append(b, `,"pruning":{`...)
		case outer != group || !nested:
			b = append(b, ',')
		}
		switch {
		case !nested:
			name = outer
		case outer != group:
			b = append(appendString(b, outer), ":{"...)
			group = outer
		default:
			b = append(b, ',')
		}
		b = append(appendString(b, name), ':')
		b = appendValue(b, value)
	})
	if group != "" {
		b = append(b, '}')
	}
	if len(b) > start {
		b = append(b, '}')
	}
	return b
}

func compareValues(x, y Value) int { return fsm.CompareFields(x.Field, y.Field) }

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case string:
		return appendString(b, v)
	}
	return append(b, "null"...) // a bug: the value is found to be invalid when the line is read
}

func (r *Record) appendSizes(b []byte) []byte {
	if r.Bytes != (Bytes{}) {
		b = appendInt(b, `,"bytes":{"raw":`, r.Bytes.Raw)
		b = appendInt(b, `,"sent":`, r.Bytes.Sent)
		b = appendInt(b, `,"wire":`, r.Bytes.Wire)
		b = appendCount(b, `,"beside":`, r.Bytes.Beside)
		b = appendCount(b, `,"beside_sent":`, r.Bytes.BesideSent)
		b = append(b, '}')
	}
	if r.Tokens == (Tokens{}) {
		return b
	}
	b = appendInt(b, `,"tokens":{"raw":`, r.Tokens.Raw)
	b = appendInt(b, `,"sent":`, r.Tokens.Sent)
	b = appendCount(b, `,"question":`, r.Tokens.Question)
	b = appendFlag(b, `,"estimated":true`, r.Tokens.Estimated)
	return append(b, '}')
}

func (d *Detail) append(b []byte) []byte {
	if d == nil {
		return b
	}
	b = appendMember(b, `,"detail":{"question":`, d.Question)
	b = appendText(b, `,"path":`, d.Path)
	b = appendText(b, `,"command":`, d.Command)
	b = appendText(b, `,"pattern":`, d.Pattern)
	return append(b, '}')
}

func appendMember(b []byte, key, s string) []byte { return appendString(append(b, key...), s) }

func appendInt(b []byte, key string, n int) []byte {
	return strconv.AppendInt(append(b, key...), int64(n), 10)
}

// appendText, appendCount and appendFlag omit empty values.
func appendText(b []byte, key, s string) []byte {
	if s == "" {
		return b
	}
	return appendMember(b, key, s)
}

func appendCount(b []byte, key string, n int) []byte {
	if n == 0 {
		return b
	}
	return appendInt(b, key, n)
}

func appendFlag(b []byte, text string, on bool) []byte {
	if !on {
		return b
	}
	return append(b, text...)
}

const hexDigits = "0123456789abcdef"

// appendString appends a JSON string: quotes, backslashes and control characters are
// escaped, bytes that are not UTF-8 become U+FFFD, and everything else is kept.
func appendString(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	b = append(b, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		b = append(b, s[done:i]...)
		switch {
		case c >= utf8.RuneSelf:
			b = append(b, "\ufffd"...)
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i += size
		done = i
	}
	return append(append(b, s[done:]...), '"')
}

// plain holds the bytes that need no escape in a JSON string.
var plain = func() (of [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		of[c] = c != '"' && c != '\\'
	}
	return of
}()

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if !plain[s[i]] {
			return false
		}
	}
	return true
}

// appendTime appends a time in startLayout. time.Format takes six times as long.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 1000 || year > 9999 {
		return t.AppendFormat(b, startLayout)
	}
	b = strconv.AppendInt(b, int64(year), 10)
	for _, part := range [...]struct {
		before byte
		n      int
	}{{'-', int(month)}, {'-', day}, {'T', hour}, {':', minute}, {':', second}} {
		b = append(b, part.before, byte('0'+part.n/10), byte('0'+part.n%10))
	}
	b = append(b, '.')
	for micros, unit := t.Nanosecond()/1000, 100_000; unit > 0; unit /= 10 {
		b = append(b, byte('0'+micros/unit%10))
	}
	return append(b, 'Z')
}

// parseStart parses a time that AppendRecord wrote.
func parseStart(s string) (time.Time, error) { return time.Parse(startLayout, s) }
